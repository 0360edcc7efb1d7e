//! The pages of the repository lead to what exists, and the README stays short and holds on a registry's page.

use std::path::{Path, PathBuf};

use crate::sources::{read, root, sources};

/// Where docs.rs shows the files of the package.
const PACKAGE: &str = "https://docs.rs/crate/wgpu-pooling/latest/source/";

/// Where docs.rs has the pages of the documentation.
const DOCUMENTATION: &str = "https://docs.rs/wgpu-pooling/latest/wgpu_pooling/docs/";

/// The pages: paths from the repository's root, and texts.
fn pages() -> Vec<(PathBuf, String)> {
    let folders = ["benches", "crates", "examples", "fuzz", "python", "src", "tests", "web"];
    let mut pages: Vec<(PathBuf, String)> = folders.into_iter().flat_map(|folder| sources(folder, ".md")).collect();
    for page in ["ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"] {
        pages.push((PathBuf::from(page), read(page)));
    }
    pages
}

/// The lines of a page outside its blocks of code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut inside = false;
    text.lines().filter(move |line| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    })
}

/// The headings of a page as links name them: in lower case, with hyphens for spaces and without other signs.
fn anchors(text: &str) -> Vec<String> {
    let headings = prose(text).filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    let anchor = |heading: &str| {
        let letters = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
        letters.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(anchor).collect()
}

/// What the links of a page name.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in prose(text) {
        found.extend(line.split("](").skip(1).filter_map(|rest| rest.split(')').next()));
        found.extend(line.strip_prefix('[').and_then(|rest| rest.split_once("]: ")).map(|(_, target)| target));
    }
    found
}

/// The files that a link on a page leads to, and the heading in one of them; nothing if it leads out of the repository.
fn target<'a>(page: &Path, link: &'a str) -> Option<(Vec<PathBuf>, &'a str)> {
    let (place, heading) = link.split_once('#').unwrap_or((link, ""));
    let files = if let Some(file) = place.strip_prefix(PACKAGE) {
        vec![PathBuf::from(file)]
    } else if let Some(name) = place.strip_prefix(DOCUMENTATION) {
        let name = name.trim_end_matches('/');
        let mut files = vec![PathBuf::from(format!("src/docs/{name}.md"))];
        // One page of the documentation consists of two files.
        if name == "choosing" {
            files.push(PathBuf::from("src/docs/on_the_cpu.md"));
        }
        files
    } else if place.is_empty() {
        vec![page.to_owned()]
    } else if place.contains("://") || place.starts_with("crate::") {
        return None;
    } else {
        vec![page.parent()?.join(place)]
    };
    Some((files, heading))
}

#[test]
fn links_lead_to_what_exists() {
    let root = root();
    let mut followed = 0;
    for (page, text) in pages() {
        for link in links(&text) {
            let Some((files, heading)) = target(&page, link) else { continue };
            for file in &files {
                assert!(root.join(file).exists(), "{}: {link} leads nowhere", page.display());
            }
            let has = |file: &PathBuf| anchors(&read(file)).iter().any(|anchor| anchor == heading);
            assert!(heading.is_empty() || files.iter().any(has), "{}: no heading for {link}", page.display());
            followed += 1;
        }
    }
    assert!(followed > 30, "{followed} links");
    assert_eq!(anchors("# A `b`, c-d!\n```sh\n# e\n```\n## F g\n"), ["a-b-c-d", "f-g"]);
    assert_eq!(links("[a](b) [c](d#e)\n```\n[f](g)\n```\n[h]: i\n"), ["b", "d#e", "i"]);
}

#[test]
fn the_readme_is_short_and_holds_on_a_registrys_page() {
    let (readme, manifest) = (read("README.md"), read("Cargo.toml"));
    let words = readme.split_whitespace().count();
    assert!(words <= 1500, "{words} words");
    let mut shown = 0;
    for file in links(&readme).into_iter().filter_map(|link| link.strip_prefix(PACKAGE)) {
        // The package has the file, or a folder that it lies in, by name.
        let mut parts = Path::new(file).ancestors();
        let included = parts.any(|part| manifest.contains(&format!("\"/{}\"", part.display())));
        assert!(included, "{file} is not in the package");
        shown += 1;
    }
    assert!(shown > 3, "{shown} links into the package");
}
