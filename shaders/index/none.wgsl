// A pool without indices.
// provides: write_index
// requires: Candidate
fn write_index(output: u32, candidate: Candidate) {
}
