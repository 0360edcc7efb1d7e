// Writes an output's index to its position in the index tensor.
// provides: write_index
// requires: pool, Candidate, index_of, store_position, store_index
fn write_index(output: u32, candidate: Candidate) {
  store_index(store_position(output) - pool.store_first, index_of(output, candidate));
}
