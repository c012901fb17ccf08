# The rows of the house, top to bottom, for check-includes and check-layers: the folders of src/. What shares a line
# shares a row.
# shellcheck disable=SC2034
rows='
base
tensor
graph
hlo
rule
op
grad
device module
kernel
transport
collective
store
plan
run
pjrt
cluster
messages
membership
parameter_server
task
sessions
loss metric schedule
strategy
format
tokenizer
summary
data
layer model
model_file
train
inspect
cli
'

# Folders whose files do not use each other in a circle, for check-layers.
# shellcheck disable=SC2034
no_circles='
data
data/cursors
data/pictures
data/sources
data/spec
data/text
data/tfds
data/transforms
data/writers
model_file/keras
parameter_server
cli/doctor
cli/evaluate
cli/help
cli/launch
cli/model
cli/plot
cli/predict
cli/top
cli/train
'
