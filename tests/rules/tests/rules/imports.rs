//! Which crate depends on which, and which file imports which: no imports are circular, no floor imports from one above
//! it, and ARCHITECTURE.md draws the floors as they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::sources::{CRATES, read, sources_of};

/// The modules of a crate by their paths (`gpu::calls::chain`), each with the code that is compiled into the library.
fn modules(folder: &str) -> BTreeMap<String, String> {
    let root = Path::new(folder).join("src");
    let named = sources_of(folder).into_iter().map(|(path, text)| {
        let inside = path.strip_prefix(&root).expect("it lies under src").with_extension("");
        let names: Vec<_> = inside.iter().map(|name| name.to_string_lossy()).filter(|name| name != "mod").collect();
        (names.join("::"), code(&text))
    });
    named.filter(|(name, _)| name != "lib").collect()
}

/// The text without comments and without the tests at its end.
fn code(text: &str) -> String {
    let lines =
        text.lines().take_while(|line| !line.starts_with("#[cfg(test)]") && !line.starts_with("#[cfg(all(test"));
    let lines = lines.map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

/// The paths that a `use` tree names.
fn expand(tree: &str, before: &str, paths: &mut Vec<String>) {
    let tree = tree.trim();
    let Some((prefix, rest)) = tree.split_once('{') else {
        paths.push(format!("{before}{}", tree.split(" as ").next().unwrap_or_default().trim()));
        return;
    };
    let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
    let (mut depth, mut item) = (0, String::new());
    for letter in inside.chars().chain([',']) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            if !item.trim().is_empty() {
                expand(&item, &format!("{before}{}", prefix.trim()), paths);
            }
            item.clear();
        } else {
            item.push(letter);
        }
    }
}

/// The paths that a file uses: those of its `use` lines, and those in its code that begin with `crate::`.
fn paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for statement in code.split(';') {
        let Some(at) = statement.rfind("use ").filter(|&at| statement[..at].ends_with(['\n', ' ', ')']) || at == 0)
        else {
            continue;
        };
        expand(&statement[at + 4..].replace('\n', " "), "", &mut paths);
    }
    for (at, _) in code.match_indices("crate::") {
        // The visibility of an item is no import.
        if !code[..at].ends_with("pub(in ") {
            let path =
                code[at..].split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':').next();
            paths.extend(path.map(|path| path.trim_end_matches(':').to_owned()));
        }
    }
    paths
}

/// The module that a path leads to from another one, if it is one of the crate's.
fn resolve(from: &str, path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let mut base: Vec<&str> = from.split("::").collect();
    let mut steps: Vec<&str> = path.split("::").map(str::trim).collect();
    match *steps.first()? {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            while steps.first() == Some(&"super") {
                base.pop();
                steps.remove(0);
            }
            steps.insert(0, "");
        }
        // A child of the module, or another crate.
        child if modules.contains_key(&format!("{from}::{child}")) => steps.insert(0, ""),
        _ => return None,
    }
    let mut found = modules.contains_key(&base.join("::")).then(|| base.join("::"));
    for step in &steps[1..] {
        base.push(step);
        let path = base.join("::");
        if modules.contains_key(&path) {
            found = Some(path);
        }
    }
    found.filter(|found| found != from)
}

/// The modules that each module of a crate imports from.
fn imports(folder: &str) -> BTreeMap<String, BTreeSet<String>> {
    let modules = modules(folder);
    let of = |(name, code): (&String, &String)| {
        let found = paths(code).into_iter().filter_map(|path| resolve(name, &path, &modules));
        (name.clone(), found.collect())
    };
    modules.iter().map(of).collect()
}

/// A circle of imports, if there is one.
fn circle(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    fn visit(
        at: &str,
        imports: &BTreeMap<String, BTreeSet<String>>,
        way: &mut Vec<String>,
        done: &mut BTreeSet<String>,
    ) -> Option<Vec<String>> {
        if let Some(begin) = way.iter().position(|module| module == at) {
            return Some(way[begin..].to_vec());
        }
        if done.contains(at) {
            return None;
        }
        way.push(at.to_owned());
        let found = imports.get(at).into_iter().flatten().find_map(|next| visit(next, imports, way, done));
        way.pop();
        done.insert(at.to_owned());
        found
    }
    let mut done = BTreeSet::new();
    imports.keys().find_map(|module| visit(module, imports, &mut Vec::new(), &mut done))
}

/// The room of a module: its folder or file right under src/, or right under src/gpu/.
fn room(module: &str) -> String {
    let names: Vec<&str> = module.split("::").collect();
    match names.as_slice() {
        ["gpu", floor, ..] => format!("gpu/{floor}"),
        [first, ..] => (*first).to_owned(),
        [] => String::new(),
    }
}

/// The rooms that each room imports from.
fn rooms(imports: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<String, BTreeSet<String>> {
    let mut rooms: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, used) in imports.iter().filter(|(module, _)| *module != "gpu") {
        let own = room(module);
        let used = used.iter().map(|module| room(module)).filter(|room| *room != own);
        rooms.entry(own.clone()).or_default().extend(used);
    }
    rooms
}

/// The floor of a room: the length of the longest chain of imports below it.
fn height(room: &str, rooms: &BTreeMap<String, BTreeSet<String>>) -> usize {
    rooms.get(room).into_iter().flatten().map(|below| height(below, rooms) + 1).max().unwrap_or(0)
}

/// The floors as text, the highest one first.
fn drawing(rooms: &BTreeMap<String, BTreeSet<String>>) -> String {
    let mut floors: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for room in rooms.keys() {
        floors.entry(height(room, rooms)).or_default().push(room);
    }
    floors.iter().rev().map(|(height, rooms)| format!("{height:>2}  {}\n", rooms.join("  "))).collect()
}

#[test]
fn no_file_is_in_a_circle_of_imports() {
    for folder in CRATES.into_iter().chain(["python", "python/onnxruntime", "web"]) {
        assert_eq!(circle(&imports(folder)), None, "in the crate in {folder:?}");
    }
}

#[test]
fn a_circle_would_be_found() {
    let of = |pairs: &[(&str, &str)]| {
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in pairs {
            imports.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        circle(&imports)
    };
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("a", "c")]), None);
    assert_eq!(of(&[("a", "b"), ("b", "c"), ("c", "b")]), Some(vec!["b".to_owned(), "c".to_owned()]));
}

#[test]
fn use_lines_are_read_whole() {
    let mut paths = Vec::new();
    expand("crate::gpu::{device::{gate::Owned, Device}, prepared as other}", "", &mut paths);
    assert_eq!(paths, ["crate::gpu::device::gate::Owned", "crate::gpu::device::Device", "crate::gpu::prepared"]);
    let of = |folder: &str, module: &str| imports(folder)[module].iter().cloned().collect::<Vec<_>>();
    assert_eq!(of("crates/plan", "tile::boxes"), ["index", "options", "tile::region"]);
    assert!(of("", "gpu::prepared::plan_cache").iter().any(|used| used == "gpu::prepared::preparation"), "by super");
    assert!(of("", "gpu::device").iter().any(|used| used == "gpu::device::gate"), "a child");
}

/// The crates of the library that a crate's manifest names outside its dev-dependencies, each with whether it is
/// optional.
fn dependencies(folder: &str) -> Vec<(String, bool)> {
    let manifest = read(Path::new(folder).join("Cargo.toml"));
    let sections = manifest.split("\n[").filter_map(|section| section.split_once("]\n"));
    let sections = sections.filter(|(name, _)| name.ends_with("dependencies") && !name.ends_with("dev-dependencies"));
    let lines = sections.flat_map(|(_, lines)| lines.lines()).filter_map(|line| line.split_once(" = "));
    let members = lines.filter(|(name, _)| name.starts_with("wgpu-pooling"));
    members.map(|(name, source)| (name.to_owned(), source.contains("optional = true"))).collect()
}

#[test]
fn crates_depend_on_those_below_them() {
    let plan = [("wgpu-pooling-plan".to_owned(), false)];
    let optional = ["wgpu-pooling-cpu", "wgpu-pooling-onnx"].map(|name| (name.to_owned(), true));
    assert_eq!(dependencies("crates/plan"), []);
    assert_eq!(dependencies("crates/cpu"), plan);
    assert_eq!(dependencies("crates/onnx"), plan);
    assert_eq!(dependencies(""), [&optional[..], &plan].concat());
}

/// The examples in the documentation of the members, and their tests, are written for users of the whole.
#[test]
fn members_name_the_whole_in_examples_alone() {
    for folder in &CRATES[1..] {
        for (module, code) in modules(folder) {
            let mut lines = code.lines().filter(|line| !line.trim_start().starts_with("#[doc = "));
            let found = lines.find(|line| line.contains("wgpu_pooling::"));
            assert_eq!(found, None, "{module} of {folder}");
        }
    }
}

#[test]
fn no_room_imports_from_one_above_it_and_the_floors_are_drawn_as_they_are() {
    let mut drawn = String::new();
    for (folder, name) in
        CRATES.into_iter().zip(["wgpu-pooling", "wgpu-pooling-cpu", "wgpu-pooling-onnx", "wgpu-pooling-plan"])
    {
        let rooms = rooms(&imports(folder));
        assert_eq!(circle(&rooms), None, "rooms of {name} import from each other");
        drawn += &format!("{name}\n{}", drawing(&rooms));
    }
    let text = read("ARCHITECTURE.md");
    let section = text.split("\n## Floors\n").nth(1).expect("a section of floors");
    let map = section.split("```text\n").nth(1).and_then(|rest| rest.split("```\n").next());
    assert_eq!(map.expect("a block of text"), drawn, "the floors are\n{drawn}");
}

#[test]
fn what_must_not_know_each_other_does_not() {
    let rooms = rooms(&imports(""));
    let knows = |room: &str, other: &str| rooms[room].iter().any(|used| used.starts_with(other));
    for (room, other) in [("gpu/device", "gpu/prepared"), ("gpu/device", "gpu/calls"), ("gpu/prepared", "gpu/calls")] {
        assert!(!knows(room, other), "{room} imports from {other}");
    }
    // An oracle shares nothing with what it judges; that it knows no device is an edge between crates.
    for (module, code) in modules("").into_iter().chain(modules("crates/cpu")) {
        let oracle = paths(&code).into_iter().find(|path| path.split("::").any(|step| step == "reference"));
        assert_eq!(oracle, None, "{module} imports from the reference");
    }
}
