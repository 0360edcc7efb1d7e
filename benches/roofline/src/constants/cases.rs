//! What is measured of a device: kernels, each with what it has to write and what its time decides.

/// The invocations of a workgroup, where nothing else is asked for.
const WORKGROUP: u32 = 256;
/// `TURNS` of constants.wgsl.
const TURNS: i32 = 64;
/// How often all registers of an invocation are computed in a turn of `operate`, once they have been changed.
const ROUNDS: usize = 32;
const REGISTERS: usize = 8;
const BY_WORKGROUP: &str = "How many invocations a workgroup of a kernel without barriers has.";
/// The words that an invocation loads.
const LOADS: u32 = 32;

/// What a figure is, from the seconds of a kernel.
#[derive(Debug, Clone, Copy)]
pub enum Unit {
    Microseconds,
    /// The time over that of a plain copy of the same bytes.
    Copies,
    /// So many of something in a run, in G/s.
    Rate(f64),
}

/// A kernel of constants.wgsl.
pub struct Case {
    pub name: String,
    pub unit: Unit,
    /// What the figure decides, in a sentence.
    pub decides: &'static str,
    pub entry_point: &'static str,
    /// What replaces the line of constants.wgsl that names the entry point.
    pub statements: String,
    /// What the function `operation` gives of `a`, `b` and `c`.
    pub operation: &'static str,
    pub bindings: &'static [u32],
    /// Of turns, lanes and steps.
    pub strides: [u32; 3],
    pub workgroup: u32,
    pub lanes: u32,
    /// Whether an indirect dispatch is validated, if the kernel takes one.
    pub indirect: Option<bool>,
    pub written_words: u32,
    /// The words that are compared with those expected.
    pub checked_words: u32,
    /// What a written word holds at last, from its number, what it held before, and how often the kernel ran.
    pub expected: Box<dyn Fn(u32, u32, u32) -> u32>,
}

/// All kernels of a device, for memory of so many bytes: a power of two of 2^17 or more.
pub fn cases(bytes: u32) -> Vec<Case> {
    let launches = [(1, None), (2048, None), (1, Some(true)), (1, Some(false))];
    let launches = launches.map(|(workgroups, indirect)| launch(workgroups, indirect));
    let stores = [(1, 1), (2, 1), (1, 2)].map(|(steps, turns)| store("store_vectors", bytes / 16, steps, turns));
    let of_words = [(1, 1), (2, 1), (4, 1)].map(|(steps, turns)| store("store_words", bytes / 4, steps, turns));
    let loads = [1, 2, 4, 8, 16, 32].map(|lines| load(bytes, lines));
    let loads_by = [64, 128].map(|workgroup| load_by(bytes, workgroup));
    let copies = [64, 128, 256].map(|workgroup| copy(bytes, workgroup));
    let exchanges = [64, 128, 256].map(|workgroup| exchange(bytes / 512, workgroup));
    let operations = OPERATIONS.iter().map(|operation| operate(bytes / 512, operation));
    let cases = launches.into_iter().chain(operations).chain(stores).chain(of_words).chain(loads);
    cases.chain(loads_by).chain(copies).chain(exchanges).collect()
}

/// A dispatch whose workgroups have nothing to do, but for the first, which counts.
fn launch(workgroups: u32, indirect: Option<bool>) -> Case {
    let (kind, decides) = match (indirect, workgroups) {
        (Some(true), _) => {
            ("indirect dispatch, validated by wgpu,", "Whether a schedule may hold indirect dispatches.")
        }
        (Some(false), _) => {
            ("indirect dispatch, not validated,", "Whether hosts are told to leave wgpu's validation out.")
        }
        (None, 1) => ("dispatch", "What a further dispatch costs: `launch` of src/select/tuning.rs."),
        (None, _) => ("dispatch", "Whether unpools may end in a dispatch that mostly finds nothing to do."),
    };
    Case {
        name: format!("{kind} of idle workgroups: {workgroups}"),
        unit: Unit::Microseconds,
        decides,
        entry_point: "launch",
        indirect,
        checked_words: 1,
        expected: Box::new(|_, before, runs| before.wrapping_add(runs)),
        ..Case::new(workgroups * WORKGROUP, 1)
    }
}

fn store(entry_point: &'static str, elements: u32, steps: u32, turns: u32) -> Case {
    let lanes = elements / (steps * turns);
    let (bytes, array) = if entry_point == "store_words" { (4, "words") } else { (16, "vectors") };
    let apart = if steps > 1 { format!("{} bytes from", bytes * steps) } else { "beside".to_owned() };
    let stored = |place: String| {
        if bytes == 4 { format!("{array}[{place}] = {place};") } else { format!("{array}[{place}] = vec4({place});") }
    };
    Case {
        name: format!("{} stores of {bytes} bytes an invocation, {apart} its neighbour's", steps * turns),
        decides: "How invocations may write: one vector beside their neighbours', or several vectors or single words.",
        entry_point,
        statements: places(turns, steps).map(stored).collect(),
        bindings: &[0, 2],
        strides: [lanes * steps, steps, 1],
        expected: Box::new(move |word, _, _| word * 4 / bytes),
        ..Case::new(lanes, elements * bytes / 4)
    }
}

/// Loads in each of which 32 neighbouring invocations touch as many lines of 128 bytes.
fn load(bytes: u32, lines: u32) -> Case {
    let lanes = bytes / 4 / LOADS;
    let turns = LOADS / lines;
    let strides = [lanes * lines, lines, 1];
    let place = move |turn, lane, step| strides[0] * turn + strides[1] * lane + step;
    let total = move |lane| {
        let places = (0..turns).flat_map(|turn| (0..lines).map(move |step| place(turn, lane, step)));
        places.fold(0, u32::wrapping_add)
    };
    Case {
        name: format!("loads of 4 bytes, lines of cache for 32 invocations: {lines}"),
        decides: "How far apart invocations may read: `line` of src/select/tuning.rs.",
        entry_point: "load",
        statements: places(turns, lines).map(|place| format!("total += source[{place}];")).collect(),
        bindings: &[0, 1, 2],
        strides,
        expected: Box::new(move |lane, _, _| total(lane)),
        ..Case::new(lanes, lanes)
    }
}

/// The loads from four lines, as those of a one-dimensional pool of 4 elements with as large a stride.
fn load_by(bytes: u32, workgroup: u32) -> Case {
    let case = load(bytes, 4);
    Case { name: format!("{}, workgroups of {workgroup}", case.name), decides: BY_WORKGROUP, workgroup, ..case }
}

fn copy(bytes: u32, workgroup: u32) -> Case {
    Case {
        name: format!("copy, workgroups of {workgroup}"),
        decides: BY_WORKGROUP,
        entry_point: "copy",
        bindings: &[0, 1],
        workgroup,
        expected: Box::new(|word, _, _| word),
        ..Case::new(bytes / 32, bytes / 8)
    }
}

fn exchange(lanes: u32, workgroup: u32) -> Case {
    Case {
        name: format!("store, barrier, load and barrier in workgroups of {workgroup}"),
        unit: Unit::Rate(f64::from(lanes) * f64::from(TURNS)),
        decides: "Whether an exchange through workgroup memory costs less than the operations that it saves.",
        entry_point: "exchange",
        workgroup,
        expected: Box::new(move |lane, _, _| (lane + TURNS as u32) % workgroup + TURNS as u32),
        ..Case::new(lanes, lanes)
    }
}

fn operate(lanes: u32, operation: &'static Operation) -> Case {
    let in_a_turn = REGISTERS as f64 * (ROUNDS as f64 * operation.count + 1.0);
    Case {
        name: format!("operations: {}", operation.text),
        unit: Unit::Rate(f64::from(lanes) * f64::from(TURNS) * in_a_turn),
        decides: "What arithmetic costs: `operation` of src/select/tuning.rs, and which count as one.",
        entry_point: "operate",
        statements: statements(),
        operation: operation.text,
        checked_words: lanes.min(256),
        expected: Box::new(|lane, _, _| operation.result(lane)),
        ..Case::new(lanes, lanes)
    }
}

/// The calls of `place` for all turns and steps.
fn places(turns: u32, steps: u32) -> impl Iterator<Item = String> {
    (0..turns).flat_map(move |turn| (0..steps).map(move |step| format!("place({turn}u, lane, {step}u)")))
}

impl Case {
    fn new(lanes: u32, written_words: u32) -> Case {
        Case {
            name: String::new(),
            unit: Unit::Copies,
            decides: "",
            entry_point: "",
            statements: String::new(),
            operation: "a",
            bindings: &[0],
            strides: [0; 3],
            workgroup: WORKGROUP,
            lanes,
            indirect: None,
            written_words,
            checked_words: written_words,
            expected: Box::new(|_, before, _| before),
        }
    }

    pub fn text(&self) -> String {
        let marker = format!("//// {}\n", self.entry_point);
        let kernels = include_str!("constants.wgsl").replace(&marker, &format!("{}\n", self.statements));
        format!("{kernels}\nfn operation(a: i32, b: i32, c: i32) -> i32 {{\n    return {};\n}}\n", self.operation)
    }
}

/// One operation of WGSL, or several that devices may join.
struct Operation {
    text: &'static str,
    /// How many operations it is.
    count: f64,
    compute: fn(i32, i32, i32) -> i32,
}

const OPERATIONS: [Operation; 9] = [
    Operation { text: "max(a, b)", count: 1.0, compute: |a, b, _| a.max(b) },
    Operation { text: "max(max(a, b), c)", count: 2.0, compute: |a, b, c| a.max(b).max(c) },
    Operation { text: "a + b", count: 1.0, compute: |a, b, _| a.wrapping_add(b) },
    Operation { text: "a + b + c", count: 2.0, compute: |a, b, c| a.wrapping_add(b).wrapping_add(c) },
    Operation { text: "a ^ b", count: 1.0, compute: |a, b, _| a ^ b },
    Operation { text: "(a & b) ^ c", count: 2.0, compute: |a, b, c| (a & b) ^ c },
    Operation { text: "(a >> 3u) ^ b", count: 2.0, compute: |a, b, _| (a >> 3) ^ b },
    Operation { text: "select(a, b, b < c)", count: 2.0, compute: |a, b, c| if b < c { b } else { a } },
    Operation { text: "a * b", count: 1.0, compute: |a, b, _| a.wrapping_mul(b) },
];

/// The registers from which a round computes a register: itself and two others. Every register is read several times,
/// and none stands twice among the operands of operands, so that compilers join no operations of two rounds.
fn operands(round: usize, register: usize) -> [usize; 3] {
    let distances = if round.is_multiple_of(2) { [0, 1, 3] } else { [0, 2, 5] };
    distances.map(|distance| (register + distance) % REGISTERS)
}

/// A turn of `operate`.
fn statements() -> String {
    let each = |statement: &dyn Fn(usize) -> String| (0..REGISTERS).map(statement).collect::<String>();
    let round = |round| {
        let computed = each(&|register| {
            let [a, b, c] = operands(round, register);
            format!("let n{register} = operation(v{a}, v{b}, v{c});\n")
        });
        format!("{{\n{computed}{}}}\n", each(&|register| format!("v{register} = n{register};\n")))
    };
    let changed = each(&|register| format!("v{register} += turn * {};\n", 2 * register + 1));
    changed + &(0..ROUNDS).map(round).collect::<String>()
}

impl Operation {
    /// What an invocation writes.
    fn result(&self, lane: u32) -> u32 {
        let seed = |register: usize| {
            (lane.wrapping_mul(0x9e37_79b1)).wrapping_add((register as u32).wrapping_mul(0x85eb_ca6b)) as i32
        };
        let mut v: [i32; REGISTERS] = std::array::from_fn(seed);
        for turn in 0..TURNS {
            for (register, value) in v.iter_mut().enumerate() {
                *value = value.wrapping_add(turn * (2 * register as i32 + 1));
            }
            for round in 0..ROUNDS {
                v = std::array::from_fn(|register| {
                    let [a, b, c] = operands(round, register).map(|operand| v[operand]);
                    (self.compute)(a, b, c)
                });
            }
        }
        v.into_iter().fold(0, |all, value| all ^ value) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_have_their_statements_and_whole_workgroups() {
        for bytes in [1 << 17, 1 << 28] {
            let cases = cases(bytes);
            let mut names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert!(names.len() == cases.len() && cases.len() > 25, "{names:?}");
            for case in cases {
                let whole = case.lanes > 0 && case.lanes.is_multiple_of(case.workgroup);
                assert!(whole && case.decides.ends_with('.'), "{}", case.name);
                assert!(case.text().contains(&format!("fn {}(", case.entry_point)), "{}", case.name);
                assert!(case.text().contains(&case.statements), "{}", case.name);
            }
        }
    }

    #[test]
    fn no_register_stands_twice_among_the_operands_of_operands() {
        for (round, register) in (1..3).flat_map(|round| (0..REGISTERS).map(move |register| (round, register))) {
            let [a, b, _] = operands(round, register);
            let [first, second] = [a, b].map(|operand| operands(round - 1, operand));
            let mut found = [first[0], first[1], second[0], second[1]];
            found.sort_unstable();
            assert!(found.windows(2).all(|pair| pair[0] != pair[1]), "{round}, {register}: {found:?}");
        }
    }
}
