//! Hashes of what `inspect --json` says of the rows of the catalogues and of drawn plans. A change of what is chosen,
//! of a grid, a uniform, a binding or a shader changes lines of `hashes.txt`.

use std::collections::HashMap;

use support::place;
use wgpu_pooling::{Build, Choice, DType, Family, KernelKey, Layout, Limits, Plan, Schedule, select, wgsl};

use crate::drawn::{composed, drawn};
use crate::{catalogue, json, work};

/// How the list is written anew.
const COMMAND: &str = "WGPU_POOLING_WRITE=1 cargo test --test plans hashes";
const CATALOGUES: [&str; 3] = [
    catalogue::OWN,
    include_str!("../../benches/cpu_catalogue.json"),
    include_str!("../../benches/model_catalogue.json"),
];
const DRAWN: usize = 2_000;
const COMPOSED: usize = 200;
const IN_A_LINE: usize = 50;
/// What a card has, and a software adapter with as much memory.
const CARD: Limits = Limits { max_buffer_bytes: (2 << 30) - 1, max_binding_bytes: (2 << 30) - 4, ..Limits::WEBGPU };
const LIMITS: [Limits; 3] = [Limits::WEBGPU, CARD, Limits { software: true, ..CARD }];

/// FNV-1a.
#[derive(Clone, Copy)]
struct Hash(u64);

impl Hash {
    const EMPTY: Hash = Hash(0xCBF2_9CE4_8422_2325);

    fn add(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    }
}

/// The declarations of a shader without comments, sorted, so that their order makes no difference.
fn declarations(wgsl: &str) -> String {
    let code: Vec<&str> = wgsl.lines().map(|line| line.split("//").next().unwrap_or_default().trim_end()).collect();
    let (code, mut depth) = (code.join("\n"), 0);
    let ends = |letter| {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        depth == 0 && matches!(letter, '}' | ';')
    };
    let mut declarations: Vec<&str> = code.split_inclusive(ends).map(str::trim).collect();
    declarations.sort_unstable();
    declarations.join("\n")
}

#[derive(Default)]
struct List {
    lines: Vec<String>,
    /// The hash of each kernel's text.
    texts: HashMap<KernelKey, Hash>,
}

impl List {
    /// Adds a line: the hash of the schedules of some plans, and the hash of their kernels' texts. The schedules are
    /// those that the library chooses, with and without inputs that may be written, and that of every family and build.
    fn add(&mut self, name: &str, plans: &[Plan]) {
        let builds = [Build::Generic, Build::Specialised];
        let families = Family::ALL.iter().flat_map(|&family| builds.map(|build| (CARD, Some(family), Some(build))));
        let asked: Vec<_> = LIMITS.into_iter().map(|limits| (limits, None, None)).chain(families).collect();
        let (mut schedules, mut texts) = (Hash::EMPTY, Hash::EMPTY);
        for (plan, &(limits, family, build)) in plans.iter().flat_map(|plan| asked.iter().map(move |it| (plan, it))) {
            let schedule = select(plan, &limits, &Choice { family, build }).ok();
            let writable = schedule.clone().filter(|_| family.is_none()).map(Schedule::with_writable_inputs);
            for schedule in [schedule, writable].into_iter().flatten() {
                let document = json::of(&schedule, &limits, |key| {
                    let text = self.texts.entry(key.clone()).or_insert_with(|| {
                        let mut text = Hash::EMPTY;
                        text.add(declarations(&wgsl(key)).as_bytes());
                        text
                    });
                    texts.add(&text.0.to_le_bytes());
                    String::new()
                });
                schedules.add(document.expect("there is memory for its tables").to_string().as_bytes());
            }
            schedules.add(b"\n");
        }
        self.lines.push(format!("{:016x} {:016x} {name}\n", schedules.0, texts.0));
    }
}

/// The lines of the rows.
fn rows() -> Vec<String> {
    let mut list = List::default();
    for row in CATALOGUES.iter().flat_map(|text| catalogue::parse(text).unwrap()) {
        let dtypes = row.dtype.map_or(vec![DType::F32, DType::F16, DType::U8, DType::I64], |own| vec![own]);
        let layouts = if row.layout == Layout::Nchw { Layout::ALL } else { &[Layout::Nhwc][..] };
        let of = |&dtype: &DType| layouts.iter().map(move |&layout| (dtype, layout));
        let plan = |(dtype, layout)| work::Plans::new(&catalogue::Row { layout, ..row.clone() }, dtype).unwrap().plan;
        list.add(&row.name, &dtypes.iter().flat_map(of).map(plan).collect::<Vec<_>>());
    }
    list.lines
}

/// The lines of the drawn plans.
fn draws() -> Vec<String> {
    let mut list = List::default();
    let drawn: Vec<Plan> = (0..).filter_map(|number| drawn(number).ok()).take(DRAWN).collect();
    let composed: Vec<Plan> = (0..).filter_map(|number| composed(number).ok()).take(COMPOSED).collect();
    for (what, plans) in [("drawn", drawn), ("composed", composed)] {
        for (number, plans) in plans.chunks(IN_A_LINE).enumerate() {
            list.add(&format!("{what} from {}", number * IN_A_LINE), plans);
        }
    }
    list.lines
}

#[test]
fn schedules_and_shaders_are_those_of_the_list() {
    let lines = std::thread::scope(|scope| [rows, draws].map(|lines| scope.spawn(lines)).map(|it| it.join().unwrap()));
    let lines = lines.concat();
    let (file, new) = (place::root().join("tests/plans/hashes.txt"), lines.concat());
    if std::env::var_os("WGPU_POOLING_WRITE").is_some_and(|value| value == "1") {
        std::fs::write(&file, &new).unwrap();
    }
    let before = std::fs::read_to_string(&file).unwrap();
    let changed: String = lines.into_iter().filter(|line| !before.contains(line)).collect();
    assert!(
        before == new,
        "{} is another list. If that is meant, {COMMAND} writes it anew.\n{changed}",
        file.display()
    );
}
