/* SPDX-License-Identifier: MIT */
/* State of a beam search on the device: A active words of `width` hypotheses each.
 *
 * beam_select takes, for each word, the best `width` extensions (values and indices of top-k over its hypotheses' tokens), records them,
 * moves those that ended to the word's list of finished ones, and says whether the word is done. beam_advance then gathers the state of the
 * words that stay, so that hypothesis n holds what its parent held: caches stay where they are, only the table of their rows is
 * reordered. */

/* One work-item per active word. Arrays [A,width] unless said otherwise; words: number of each active word in the batch; history_ of shape
 * [steps][batch words][width]; finished_ of shape [batch words][width], in falling order of scores. */
__kernel void beam_select(int active, int width, int classes, int end_token, int step, int batch_words, __global const float *values,
                          long values_offset, __global const int *indices, long indices_offset, __global const int *words,
                          __global int *tokens, __global float *scores, __global int *parents, __global int *history_token,
                          __global int *history_parent, __global float *finished_score, __global int *finished_at,
                          __global int *finished_count, __global int *done)
{
    const int a = (int)get_global_id(0);
    if (a >= active)
        return;
    const int word = words[a];
    const long history = ((long)step * batch_words + word) * width;
    finished_score += (long)word * width;
    finished_at += (long)word * width;
    int count = finished_count[word];
    float best = -INFINITY;
    for (int w = 0; w < width; w++) {
        const float score = values[values_offset + (long)a * width + w];
        const int index = indices[indices_offset + (long)a * width + w];
        const int token = index % classes;
        const long at = (long)a * width + w;
        float live = score;
        history_token[history + w] = token;
        history_parent[history + w] = index / classes;
        if (token == end_token) {
            live = -INFINITY;
            if (score > -INFINITY && (count < width || score > finished_score[width - 1])) {
                int i = count < width ? count : width - 1;
                for (; i > 0 && finished_score[i - 1] < score; i--) {
                    finished_score[i] = finished_score[i - 1];
                    finished_at[i] = finished_at[i - 1];
                }
                finished_score[i] = score;
                finished_at[i] = step * width + w;
                count = min(count + 1, width);
            }
        }
        tokens[at] = token;
        parents[at] = index / classes;
        scores[at] = live;
        best = live > best ? live : best;
    }
    finished_count[word] = count;
    done[a] = best == -INFINITY || (count == width && best <= finished_score[width - 1]);
}

/* One work-item per hypothesis n of `active` words that stay; keep: their places among the active ones so far (has_keep 0: all stay).
 * Everything with _to is the next step's. rows [.,row_stride]: the first `keys` of the parent's, and this hypothesis's own next row,
 * first_row + n. */
__kernel void beam_advance(int active, int width, int parent_width, int keys, int row_stride, int first_row, int has_keep,
                           __global const int *keep, __global const int *words, __global const int *tokens, __global const float *scores,
                           __global const int *parents, __global const int *rows, __global int *words_to, __global int *tokens_to,
                           __global float *scores_to, __global int *rows_to, __global const int *source_first,
                           __global const int *source_count, __global int *first_to, __global int *count_to)
{
    const int n = (int)get_global_id(0);
    if (n >= active * width)
        return;
    const int a = n / width, w = n % width;
    const int from = has_keep ? keep[a] : a;
    const int word = words[from];
    const long old = (long)from * width + w;
    __global const int *row = rows + ((long)from * parent_width + parents[old]) * row_stride;
    __global int *row_to = rows_to + (long)n * row_stride;
    for (int j = 0; j < keys; j++)
        row_to[j] = row[j];
    row_to[keys] = first_row + n;
    tokens_to[n] = tokens[old];
    scores_to[n] = scores[old];
    first_to[n] = source_first[word];
    count_to[n] = source_count[word];
    if (w == 0)
        words_to[a] = word;
}
