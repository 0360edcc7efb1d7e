//! Finds the loop of the source that a loop of the compiled kernel comes from.
//!
//! naga bounds every loop by a counter that begins with 2^64 - 1 (`force_loop_bounding`). In the marked form of a
//! module the high word of each counter begins with a different number, the loop's mark. The mark is never counted
//! down; the compiler keeps it, and it shows in the loop's phi instructions. Nothing else of the module changes;
//! registers and spills are still read from the unmarked form.

use std::collections::HashMap;

/// The high half of every mark; no word that the shaders use begins with it.
const MARK: u32 = 0x5ab1_0000;

/// A loop of the source: the function that it stands in, and its number in it, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LoopName {
    pub function: String,
    pub number: usize,
}

const OP_NAME: u32 = 5;
const OP_CONSTANT: u32 = 43;
const OP_CONSTANT_COMPOSITE: u32 = 44;
const OP_FUNCTION: u32 = 54;
const OP_VARIABLE: u32 = 59;
/// naga's name for a loop's counter.
const COUNTER: &str = "loop_bound";
/// The number of words before the first instruction. The one at `BOUND` is the lowest identifier that is not in use.
const HEADER: usize = 5;
const BOUND: usize = 3;

/// Instructions of a module: where each begins, and how many words it has.
fn instructions(words: &[u32]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = HEADER;
    while at < words.len() {
        let length = (words[at] >> 16).max(1) as usize;
        found.push((at, length.min(words.len() - at)));
        at += length;
    }
    found
}

/// Marks the loops of a module that was written with names. Gives the marked module, and the loop that each mark stands
/// for.
pub fn mark(words: &[u32]) -> (Vec<u32>, Vec<LoopName>) {
    let instructions = instructions(words);
    let of = |operation: u32| {
        let matching = instructions.iter().filter(move |(at, _)| words[*at] & 0xffff == operation);
        matching.map(|&(at, length)| &words[at..at + length])
    };
    let names: HashMap<u32, String> = of(OP_NAME).map(|name| (name[1], text(&name[2..]))).collect();
    let composites: HashMap<u32, &[u32]> = of(OP_CONSTANT_COMPOSITE).map(|vector| (vector[2], vector)).collect();
    let scalars: HashMap<u32, &[u32]> = of(OP_CONSTANT).map(|scalar| (scalar[2], scalar)).collect();
    let constants_end = instructions.iter().find(|(at, _)| words[*at] & 0xffff == OP_FUNCTION).map(|&(at, _)| at);
    let Some(constants_end) = constants_end else { return (words.to_vec(), Vec::new()) };

    let mut loops: Vec<LoopName> = Vec::new();
    let mut constants = Vec::new();
    let mut marked = words.to_vec();
    let mut function = String::new();
    for &(at, length) in &instructions {
        let instruction = &words[at..at + length];
        match instruction[0] & 0xffff {
            OP_FUNCTION => function = names.get(&instruction[2]).cloned().unwrap_or_default(),
            OP_VARIABLE if names.get(&instruction[2]).is_some_and(|name| name == COUNTER) => {
                // The counter's first value is a vector that holds one constant twice.
                let first = instruction.get(4).and_then(|first| composites.get(first));
                let Some((first, most)) = first.and_then(|first| Some((first, scalars.get(&first[3])?))) else {
                    continue;
                };
                let mark = MARK + loops.len() as u32;
                let number = loops.iter().filter(|other| other.function == function).count();
                loops.push(LoopName { function: function.clone(), number });
                let scalar = marked[BOUND];
                let vector = scalar + 1;
                marked[BOUND] += 2;
                constants.extend([4 << 16 | OP_CONSTANT, most[1], scalar, mark]);
                constants.extend([5 << 16 | OP_CONSTANT_COMPOSITE, first[1], vector, scalar, first[4]]);
                marked[at + 4] = vector;
            }
            _ => {}
        }
    }
    marked.splice(constants_end..constants_end, constants);
    (marked, loops)
}

/// The number of the loop whose mark a word is, if it is one.
pub fn marked(word: u32, loops: usize) -> Option<usize> {
    let number = word.wrapping_sub(MARK) as usize;
    (number < loops).then_some(number)
}

/// A SPIR-V string: the bytes of little-endian words, up to a zero.
fn text(words: &[u32]) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spirv;

    const TEXT: &str = "
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        fn sum(a: u32) -> u32 {
            var s = 0u;
            for (var i = 0u; i < a; i++) { s += y[i]; }
            return s;
        }
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) local: u32) {
            for (var j = 0u; j < y[0]; j++) { for (var k = 0u; k < y[1]; k++) { y[local + j * k] = sum(k); } }
        }";

    #[test]
    fn every_loop_has_a_mark_and_the_name_of_its_function() {
        let source = spirv::Source::parse(TEXT).unwrap();
        let (words, loops) = mark(&source.named().unwrap().words);
        let names: Vec<_> = loops.iter().map(|name| (name.function.as_str(), name.number)).collect();
        assert_eq!(names, [("sum", 0), ("main", 0), ("main", 1)]);
        for number in 0..3 {
            assert_eq!(words.iter().filter(|&&word| marked(word, 3) == Some(number)).count(), 1);
        }
    }

    #[test]
    fn minus_one_is_not_taken_for_the_counters_first_value() {
        let text = "
            @group(0) @binding(0) var<storage, read_write> y: array<vec2<i32>>;
            @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) local: u32) {
                y[local] = vec2<i32>(-1, -1);
                var left = vec2<i32>(-1, -1);
                for (var i = 0u; i < local; i++) { left += y[i]; }
                y[0] = left;
            }";
        let source = spirv::Source::parse(text).unwrap();
        assert_eq!(mark(&source.named().unwrap().words).1.len(), 1);
    }

    #[test]
    fn a_module_without_loops_stays_as_it_is() {
        let text = "@compute @workgroup_size(1) fn main() {}";
        let words = spirv::Source::parse(text).unwrap().named().unwrap().words;
        assert_eq!(mark(&words), (words, Vec::new()));
    }
}
