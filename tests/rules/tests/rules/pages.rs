//! The pages of the repository lead to what exists, and the README stays short.

use std::path::{Path, PathBuf};

use crate::sources::{read, root, sources};

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

/// The file that a link on a page leads to, and the heading in it; nothing if it leads out of the repository.
fn target<'a>(page: &Path, link: &'a str) -> Option<(PathBuf, &'a str)> {
    let (place, heading) = link.split_once('#').unwrap_or((link, ""));
    if place.is_empty() {
        Some((page.to_owned(), heading))
    } else if let Some(name) = place.strip_prefix("crate::docs::") {
        Some((PathBuf::from(format!("src/docs/{name}.md")), heading))
    } else if place.contains("://") || place.starts_with("crate::") {
        None
    } else {
        Some((page.parent()?.join(place), heading))
    }
}

#[test]
fn links_lead_to_what_exists() {
    let root = root();
    let mut followed = 0;
    for (page, text) in pages() {
        for link in links(&text) {
            let Some((file, heading)) = target(&page, link) else { continue };
            assert!(root.join(&file).exists(), "{}: {link} leads nowhere", page.display());
            let found = heading.is_empty() || anchors(&read(&file)).iter().any(|anchor| anchor == heading);
            assert!(found, "{}: no heading for {link}", page.display());
            followed += 1;
        }
    }
    assert!(followed > 60, "{followed} links");
    assert_eq!(anchors("# A `b`, c-d!\n```sh\n# e\n```\n## F g\n"), ["a-b-c-d", "f-g"]);
    assert_eq!(links("[a](b) [c](d#e)\n```\n[f](g)\n```\n[h]: i\n"), ["b", "d#e", "i"]);
}

/// No registry has the packages yet, so nothing leads to the pages that it would make of them.
#[test]
fn nothing_leads_to_pages_of_a_registry() {
    let manifests = sources("crates", ".toml").into_iter().chain([(PathBuf::from("Cargo.toml"), read("Cargo.toml"))]);
    let code = sources("src", ".rs").into_iter().chain(sources("crates", ".rs"));
    for (path, text) in pages().into_iter().chain(manifests).chain(code) {
        for registry in ["docs.rs/", "crates.io/crates/"] {
            let found = text.lines().find(|line| line.contains(registry) && line.contains("wgpu-pooling"));
            assert!(found.is_none(), "{}: {}", path.display(), found.unwrap_or_default());
        }
    }
}

/// Links of the documentation's pages read as plain Markdown, and `links.md` says what rustdoc makes of them.
#[test]
fn every_link_of_the_documentation_is_used_and_a_page_says_the_same_file() {
    let links_of_rustdoc = read("src/docs/links.md");
    let pages = sources("src/docs", ".md").into_iter();
    let pages = pages.filter(|(page, _)| !page.ends_with("links.md") && !page.ends_with("README.md"));
    let pages: Vec<(PathBuf, String)> = pages.collect();
    for definition in links_of_rustdoc.lines().filter(|line| !line.is_empty()) {
        let (label, target) = definition.split_once(": ").unwrap();
        let users: Vec<_> = pages.iter().filter(|(_, text)| prose(text).any(|line| line.contains(label))).collect();
        assert!(!users.is_empty(), "no page has {label}");
        let Some(page) = target.strip_prefix("crate::docs::") else { continue };
        let (page, heading) = page.find('#').map_or((page, ""), |at| page.split_at(at));
        for (user, text) in users {
            let expected = format!("{label}: {page}.md{heading}");
            assert!(text.lines().any(|line| line == expected), "{}: {expected}", user.display());
        }
    }
}

/// The tests of the page in the browser run where Chromium is. Here the texts of errors that they match are checked.
#[test]
fn messages_that_the_browsers_tests_match_are_errors_of_the_library() {
    let errors = sources("crates", ".rs").into_iter().map(|(_, text)| text).collect::<String>();
    let templates = errors.split("#[error(\"").skip(1).filter_map(|rest| rest.split("\")]").next());
    // What stands between the values of an error's text.
    let pieces = |template: &str| -> Vec<String> {
        let piece = |part: &str| part.split_once('}').map_or(part, |(_, piece)| piece).to_owned();
        template.split('{').map(piece).filter(|piece| !piece.is_empty()).collect()
    };
    let templates: Vec<Vec<String>> = templates.map(pieces).filter(|pieces| !pieces.is_empty()).collect();
    let page = read("web/page.test.mjs");
    let messages: Vec<&str> = page.split("assert.match(message, /").skip(1).collect();
    assert!(!messages.is_empty());
    for message in messages {
        let message = message.lines().next().unwrap_or_default();
        let is_of = |template: &Vec<String>| {
            let found =
                template.iter().try_fold(message, |rest, piece| rest.split_once(piece.as_str()).map(|(_, rest)| rest));
            template.len() > 1 && found.is_some()
        };
        assert!(templates.iter().any(is_of), "no error of the library says {message}");
    }
}

#[test]
fn the_readme_is_short() {
    let words = read("README.md").split_whitespace().count();
    assert!(words <= 1550, "{words} words");
}
