/* The part of the module `sentencepiece` that is C++, because it calls the library, which is C++. */
#include <sentencepiece_processor.h>

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "tokenizer/sentencepiece.h"

struct mst_sentencepiece {
    sentencepiece::SentencePieceProcessor processor;
};

namespace {

using sentencepiece::util::Status;

/* Calls FUNCTION. An exception becomes an error. */
template <typename Function>
mst_status guarded(Function function) {
    try {
        return function();
    } catch (const std::bad_alloc &) {
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for SentencePiece");
    } catch (const std::exception &error) {
        return MST_FAIL(MST_INTERNAL, "SentencePiece: %s", error.what());
    } catch (...) {
        return MST_FAIL(MST_INTERNAL, "SentencePiece: unknown error");
    }
}

mst_status fail_as(mst_status code, const Status &status) {
    return MST_FAIL(code, "SentencePiece: %s", status.ToString().c_str());
}

/* A copy of SIZE bytes that free() frees, and a zero byte behind it. */
void *copied(const void *data, size_t size) {
    char *copy = static_cast<char *>(std::malloc(size + 1));
    if (!copy) throw std::bad_alloc();
    if (size) std::memcpy(copy, data, size);
    copy[size] = '\0';
    return copy;
}

mst_status open_model(const void *bytes, size_t size, mst_sentencepiece **out) {
    *out = nullptr;
    return guarded([&]() -> mst_status {
        mst_sentencepiece *model = new mst_sentencepiece;
        const Status status = model->processor.LoadFromSerializedProto({static_cast<const char *>(bytes), size});
        if (!status.ok()) {
            delete model;
            return fail_as(MST_CORRUPT, status);
        }
        *out = model;
        return MST_OK;
    });
}

void close_model(mst_sentencepiece *model) {
    delete model;
}

mst_status encode_text(const mst_sentencepiece *model, const char *text, size_t size, int32_t **ids, int64_t *n) {
    return guarded([&]() -> mst_status {
        std::vector<int> found;
        const Status status = model->processor.Encode({text, size}, &found);
        if (!status.ok()) return fail_as(MST_INVALID, status);
        *ids = static_cast<int32_t *>(copied(found.data(), found.size() * sizeof(int32_t)));
        *n = static_cast<int64_t>(found.size());
        return MST_OK;
    });
}

mst_status decode_ids(const mst_sentencepiece *model, const int32_t *ids, int64_t n, char **text, size_t *size) {
    return guarded([&]() -> mst_status {
        std::string found;
        const Status status = model->processor.Decode(std::vector<int>(ids, ids + n), &found);
        if (!status.ok()) return fail_as(MST_INVALID, status);
        *text = static_cast<char *>(copied(found.data(), found.size()));
        *size = found.size();
        return MST_OK;
    });
}

int32_t num_ids(const mst_sentencepiece *model) {
    return model->processor.GetPieceSize();
}

const char *token_of(const mst_sentencepiece *model, int32_t id) {
    return model->processor.IdToPiece(id).c_str();
}

int32_t find_token(const mst_sentencepiece *model, const char *token) {
    const int32_t id = model->processor.PieceToId(token); /* the id of unknown pieces if TOKEN does not exist */
    return id >= 0 && id < num_ids(model) && model->processor.IdToPiece(id) == token ? id : -1;
}

void find_special_ids(const mst_sentencepiece *model, int64_t special[4]) {
    special[0] = model->processor.bos_id();
    special[1] = model->processor.eos_id();
    special[2] = model->processor.pad_id();
    special[3] = model->processor.unk_id();
}

}  // namespace

extern "C" const mst_sentencepiece_library mst_sentencepiece_functions = {
    open_model, close_model, encode_text, decode_ids, num_ids, token_of, find_token, find_special_ids};
