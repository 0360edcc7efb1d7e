// Writes an output's index.
// provides: write_index
// requires: Candidate

//// write when WRITES > 0: Writes an output's index to its position in the index tensor.
// requires: pool, index_of, store_position, store_index
fn write_index(output: u32, candidate: Candidate) {
  store_index(store_position(output) - pool.store_first, index_of(output, candidate));
}

//// none when WRITES == 0: A pool without indices.
fn write_index(output: u32, candidate: Candidate) {
}
