"""Keras' recurrent layers whose steps tf2onnx writes as a loop, which is a graph inside a node: Muster's predictions are
Keras' within 1e-5 of the largest. Where the number of steps is open, the error says which size must be fixed."""

import sys

import keras_onnx_test as onnx_test
from keras import layers


def models():
    chain, both = onnx_test.chain, layers.Bidirectional
    yield "gru", chain((7, 3), layers.GRU(5))
    yield "simple_rnn", chain((7, 3), layers.SimpleRNN(5, activation="relu", go_backwards=True))
    yield "both_grus", chain((5, 3), both(layers.GRU(4, return_sequences=True)), layers.Dense(2))
    yield "conv_lstm", chain((4, 6, 6, 2), layers.ConvLSTM2D(3, 3, padding="same"))
    yield "masked", chain((7, 3), layers.Masking(), layers.LSTM(5))
    yield "masked_words", chain((9,), layers.Embedding(20, 6, mask_zero=True), layers.GRU(4), dtype="int32")
    yield "open_steps", chain((None, 3), layers.SimpleRNN(5))


if __name__ == "__main__":
    sys.exit(onnx_test.check(models(), {"open_steps": "a number for dimension 1 of its input"}))
