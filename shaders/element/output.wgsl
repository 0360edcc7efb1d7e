// Y as an array, by the size of its elements.
// provides: y

//// output_words: Words, each of one or several elements.
@group(0) @binding(2) var<storage, read_write> y: array<u32>;

//// output_pairs: Pairs of words, each of one element.
@group(0) @binding(2) var<storage, read_write> y: array<vec2<u32>>;
