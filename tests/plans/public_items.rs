//! The public items stand in tests/public_items.txt, a line for each, so that a change to them is seen.
//!
//! They are read from the sources, so that the list does not depend on the compiler. Of the items that macros of this
//! crate write, the list has the macros' lines and the types that the macros are called for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, ImplItem, Item, ItemImpl, ItemMacro, Meta, TraitItem, Type, UseTree, Visibility};

/// How the list is written anew.
const COMMAND: &str = "WGPU_POOLING_WRITE=1 cargo test --test plans public_items";

/// The names that lead from the crate's root to a module or an item.
type Names = Vec<String>;

/// A module of the library, and under which conditions it exists.
struct Module {
    path: Names,
    conditions: Vec<String>,
    items: Vec<Item>,
}

/// The text of a part of the source, in one line.
fn text(node: &impl Spanned) -> String {
    one_line(&node.span().source_text().expect("text that was parsed"))
}

fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    [("( ", "("), ("< ", "<"), (", )", ")"), (", >", ">"), (" )", ")")]
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}

fn last_name(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

fn names(path: &syn::Path) -> Names {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

fn joined(path: &[String], name: &str) -> Names {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// The arguments of the attributes of this name.
fn arguments(attributes: &[Attribute], name: &str) -> impl Iterator<Item = String> {
    let named = attributes.iter().filter(move |attribute| attribute.path().is_ident(name));
    named.filter_map(|attribute| match &attribute.meta {
        Meta::List(list) => Some(text(&list.tokens)),
        _ => None,
    })
}

/// Whether the documentation leaves the item out, which is then for this crate's own tests and no promise.
fn is_hidden(attributes: &[Attribute]) -> bool {
    arguments(attributes, "doc").any(|argument| argument == "hidden")
}

fn is_test(attributes: &[Attribute]) -> bool {
    arguments(attributes, "cfg").any(|condition| condition.starts_with("test") || condition.starts_with("all(test"))
}

/// The attributes that callers notice.
fn noticed(attributes: &[Attribute]) -> String {
    let kinds = ["default", "deprecated", "derive", "non_exhaustive", "repr"];
    let noticed = attributes.iter().filter(|attribute| kinds.iter().any(|kind| attribute.path().is_ident(kind)));
    // The text of a must_use is documentation.
    let must_use = attributes.iter().any(|attribute| attribute.path().is_ident("must_use"));
    let mut texts: Vec<String> = noticed.map(text).collect();
    texts.extend(must_use.then(|| "#[must_use]".to_owned()));
    texts.into_iter().map(|text| text + " ").collect()
}

/// Conditions in brackets, without doubles: `[feature = "gpu"]`.
fn conditional(outer: &[String], attributes: &[Attribute]) -> String {
    let all: BTreeSet<String> = outer.iter().cloned().chain(arguments(attributes, "cfg")).collect();
    all.into_iter().map(|condition| format!(" [{condition}]")).collect()
}

/// The names that a `use` brings, each with its path; `*` stands for all names of a module.
fn brought(tree: &UseTree, before: &[String]) -> Vec<(String, Names)> {
    match tree {
        UseTree::Path(path) => brought(&path.tree, &joined(before, &path.ident.to_string())),
        UseTree::Name(name) if name.ident == "self" => {
            before.last().map(|name| (name.clone(), before.to_vec())).into_iter().collect()
        }
        UseTree::Name(name) => vec![(name.ident.to_string(), joined(before, &name.ident.to_string()))],
        UseTree::Rename(rename) => vec![(rename.rename.to_string(), joined(before, &rename.ident.to_string()))],
        UseTree::Group(group) => group.items.iter().flat_map(|tree| brought(tree, before)).collect(),
        UseTree::Glob(_) => vec![("*".to_owned(), before.to_vec())],
    }
}

/// The name that an item declares. A call of a macro declares the first name that it is given.
fn declared(item: &Item) -> Option<String> {
    match item {
        Item::Const(item) => Some(item.ident.to_string()),
        Item::Enum(item) => Some(item.ident.to_string()),
        Item::Fn(item) => Some(item.sig.ident.to_string()),
        Item::Struct(item) => Some(item.ident.to_string()),
        Item::Trait(item) => Some(item.ident.to_string()),
        Item::Type(item) => Some(item.ident.to_string()),
        Item::Macro(item) if item.ident.is_none() && braced(item).next().is_some() => {
            plain_arguments(item).first().map(|(_, path)| path.join("::"))
        }
        _ => None,
    }
}

/// What stands between the commas of a macro's call: attributes, and the rest.
fn listed_in(tokens: TokenStream) -> Vec<(Vec<Attribute>, TokenStream)> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let parts = tokens.split(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ','));
    let attributes_and_rest =
        |input: ParseStream<'_>| Ok((Attribute::parse_outer(input)?, input.parse::<TokenStream>()?));
    let parsed = parts.map(|part| attributes_and_rest.parse2(part.iter().cloned().collect()));
    parsed.map(|part| part.expect("tokens with attributes")).filter(|(_, rest)| !rest.is_empty()).collect()
}

/// The arguments of a macro's call that are names or paths, each with what is noticed of its attributes.
fn plain_arguments(call: &ItemMacro) -> Vec<(String, Names)> {
    let paths = listed_in(call.mac.tokens.clone()).into_iter().map(|(attributes, rest)| {
        let path = syn::parse2::<syn::Path>(rest).ok()?;
        Some((noticed(&attributes), names(&path)))
    });
    paths.flatten().collect()
}

/// The parts of a macro's call that stand in braces.
fn braced(call: &ItemMacro) -> impl Iterator<Item = TokenStream> {
    call.mac.tokens.clone().into_iter().filter_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => Some(group.stream()),
        _ => None,
    })
}

/// The entries between the braces of a macro's call.
fn entries(call: &ItemMacro) -> Vec<(String, String)> {
    let entries = braced(call).flat_map(listed_in);
    entries.map(|(attributes, rest)| (noticed(&attributes), rest.to_string())).collect()
}

/// The lines of a macro that begin a public item, an `impl`, or say what is derived.
fn written_by(definition: &ItemMacro) -> Vec<String> {
    let source = definition.mac.tokens.span().source_text().expect("text that was parsed");
    let mut lines = source.lines().map(str::trim);
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        if !["pub ", "impl", "type ", "#[derive"].iter().any(|begin| line.starts_with(begin)) {
            continue;
        }
        let mut item = line.to_owned();
        while !item.contains(['{', ';', ']']) {
            item = format!("{item} {}", lines.next().expect("an item ends"));
        }
        let item = item.split(['{', ';']).next().and_then(|item| item.split(" = &").next()).unwrap_or_default();
        found.push(one_line(item));
    }
    found
}

struct Library {
    modules: Vec<Module>,
    lines: BTreeSet<String>,
    /// What is exported: where it is declared, and its public name.
    exported: Vec<(Names, String)>,
}

impl Library {
    fn read() -> Library {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut library = Library { modules: Vec::new(), lines: BTreeSet::new(), exported: Vec::new() };
        library.load(Vec::new(), Vec::new(), &[root.join("lib.rs")], &root);
        library
    }

    /// Loads a module from the first of these files that exists, and the modules in `folder` that it declares.
    fn load(&mut self, path: Names, conditions: Vec<String>, files: &[PathBuf], folder: &Path) {
        let file = files.iter().find(|file| file.exists()).unwrap_or_else(|| panic!("no file of {path:?}"));
        let source = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let items = syn::parse_file(&source).unwrap_or_else(|error| panic!("{}: {error}", file.display())).items;
        self.add(path, conditions, items, folder);
    }

    fn add(&mut self, path: Names, conditions: Vec<String>, items: Vec<Item>, folder: &Path) {
        for item in &items {
            let Item::Mod(module) = item else { continue };
            if is_test(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let conditions = conditions.iter().cloned().chain(arguments(&module.attrs, "cfg")).collect();
            let (path, inner) = (joined(&path, &name), folder.join(&name));
            match &module.content {
                Some((_, items)) => self.add(path, conditions, items.clone(), &inner),
                None => self.load(path, conditions, &[inner.with_extension("rs"), inner.join("mod.rs")], &inner),
            }
        }
        self.modules.push(Module { path, conditions, items });
    }

    fn module(&self, path: &[String]) -> Option<&Module> {
        self.modules.iter().find(|module| module.path == path)
    }

    /// Where the item is declared to which a path leads that is written in this module. `None` for other crates' items.
    fn resolve(&self, from: &[String], path: &[String]) -> Option<Names> {
        let (first, rest) = path.split_first()?;
        match first.as_str() {
            "crate" => return self.resolve(&[], rest),
            "self" => return self.resolve(from, rest),
            "super" => return self.resolve(&from[..from.len() - 1], rest),
            _ => {}
        }
        let module = self.module(from)?;
        if rest.is_empty() && module.items.iter().any(|item| declared(item).as_ref() == Some(first)) {
            return Some(joined(from, first));
        }
        let inner = joined(from, first);
        if !rest.is_empty() && self.module(&inner).is_some() {
            return self.resolve(&inner, rest);
        }
        let uses = module.items.iter().filter_map(|item| match item {
            Item::Use(item) => Some(brought(&item.tree, &[])),
            _ => None,
        });
        let uses: Vec<(String, Names)> = uses.flatten().collect();
        let named = uses.iter().filter(|(name, target)| name == first && target[..] != path[..1]);
        let named = named.map(|(_, target)| self.resolve(from, &[target, rest].concat()));
        let all = uses.iter().filter(|(name, _)| name == "*");
        let all = all.map(|(_, target)| self.resolve(from, &[&target[..], path].concat()));
        named.chain(all).flatten().next()
    }

    /// The public name of what a path leads to.
    fn public_name(&self, from: &[String], path: &[String]) -> Option<&str> {
        let place = self.resolve(from, path)?;
        self.exported.iter().find(|(exported, _)| *exported == place).map(|(_, name)| name.as_str())
    }

    fn line(&mut self, name: &str, text: &str) {
        self.lines.insert(format!("{name}: {text}"));
    }

    /// Lists what a public module exports, and the public modules in it.
    fn list_module(&mut self, path: &[String]) {
        let module = self.module(path).unwrap_or_else(|| panic!("no module {path:?}"));
        let (outer, items) = (module.conditions.clone(), module.items.clone());
        for item in &items {
            match item {
                Item::Use(item) if matches!(item.vis, Visibility::Public(_)) => {
                    for (name, target) in brought(&item.tree, &[]) {
                        let public = joined(path, &name).join("::");
                        match self.resolve(path, &target) {
                            Some(place) => self.exported.push((place, public)),
                            None => {
                                let text = format!("pub use {}{}", target.join("::"), conditional(&outer, &item.attrs));
                                self.line(&public, &text);
                            }
                        }
                    }
                }
                Item::Mod(item) if is_hidden(&item.attrs) || is_test(&item.attrs) => {}
                Item::Mod(item) if matches!(item.vis, Visibility::Public(_)) => {
                    let path = joined(path, &item.ident.to_string());
                    self.line(&path.join("::"), &format!("pub mod{}", conditional(&outer, &item.attrs)));
                    self.list_module(&path);
                }
                _ => {}
            }
        }
    }

    /// Lists the declarations of what is exported.
    fn list_declarations(&mut self) {
        for (place, name) in self.exported.clone() {
            let (item, path) = place.split_last().expect("a name");
            let module = self.module(path).expect("a module");
            let item = module.items.iter().find(|candidate| declared(candidate).as_ref() == Some(item));
            let (item, outer) = (item.expect("an item").clone(), module.conditions.clone());
            self.list_item(&name, &item, &outer);
        }
    }

    fn list_item(&mut self, name: &str, item: &Item, outer: &[String]) {
        match item {
            Item::Const(item) => {
                let text = format!("pub const {}: {}", item.ident, text(&item.ty));
                self.line(name, &(text + &conditional(outer, &item.attrs)));
            }
            Item::Fn(item) => {
                let text = format!("{}pub {}", noticed(&item.attrs), text(&item.sig));
                self.line(name, &(text + &conditional(outer, &item.attrs)));
            }
            Item::Type(item) => {
                let text = format!("pub type {} = {}", item.ident, text(&item.ty));
                self.line(name, &(text + &conditional(outer, &item.attrs)));
            }
            Item::Struct(item) => {
                let hidden = item.fields.iter().any(|field| !matches!(field.vis, Visibility::Public(_)));
                let rest = if hidden { " { .. }" } else { "" };
                let head = format!("{}pub struct {}{}", noticed(&item.attrs), item.ident, generics(&item.generics));
                self.line(name, &(head + rest + &conditional(outer, &item.attrs)));
                for (number, field) in item.fields.iter().enumerate() {
                    if matches!(field.vis, Visibility::Public(_)) {
                        let field_name = field.ident.as_ref().map_or(number.to_string(), ToString::to_string);
                        self.line(&format!("{name}::{field_name}"), &format!("pub {}", text(&field.ty)));
                    }
                }
            }
            Item::Enum(item) => {
                let head = format!("{}pub enum {}{}", noticed(&item.attrs), item.ident, generics(&item.generics));
                self.line(name, &(head + &conditional(outer, &item.attrs)));
                for variant in &item.variants {
                    let fields = variant.fields.iter().map(|field| match &field.ident {
                        Some(ident) => format!("{ident}: {}", text(&field.ty)),
                        None => text(&field.ty),
                    });
                    let fields = fields.collect::<Vec<_>>().join(", ");
                    let fields = if fields.is_empty() { fields } else { format!(" ({fields})") };
                    let text = format!("{}variant{fields}", noticed(&variant.attrs));
                    self.line(&format!("{name}::{}", variant.ident), &text);
                }
            }
            Item::Trait(item) => {
                let bounds = item.supertraits.iter().map(text).collect::<Vec<_>>().join(" + ");
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                let head = format!("pub trait {}{}{bounds}", item.ident, generics(&item.generics));
                self.line(name, &(head + &conditional(outer, &item.attrs)));
                for item in &item.items {
                    let (inner, text) = trait_item(item);
                    self.line(&format!("{name}::{inner}"), &text);
                }
            }
            // What its macro writes is listed with the macro.
            Item::Macro(_) => {}
            _ => panic!("{name} is of a kind that this list does not know"),
        }
    }

    /// Lists what the modules implement for public types, and public traits for any type.
    fn list_impls(&mut self) {
        let traits = self.modules.iter().flat_map(|module| &module.items).filter_map(|item| match item {
            Item::Trait(item) => Some(item.ident.to_string()),
            _ => None,
        });
        let traits: BTreeSet<String> = traits.collect();
        for number in 0..self.modules.len() {
            let module = &self.modules[number];
            let (path, outer) = (module.path.clone(), module.conditions.clone());
            for item in module.items.clone() {
                match item {
                    Item::Impl(item) if !is_test(&item.attrs) => self.list_impl(&path, &outer, &item, &traits),
                    _ => {}
                }
            }
        }
    }

    fn list_impl(&mut self, path: &[String], outer: &[String], item: &ItemImpl, traits: &BTreeSet<String>) {
        let target = match &*item.self_ty {
            Type::Reference(reference) => &*reference.elem,
            target => target,
        };
        let owner = match target {
            Type::Path(target) => self.public_name(path, &names(&target.path)).map(str::to_owned),
            _ => None,
        };
        let conditions = conditional(outer, &item.attrs);
        let header = format!("impl{}", generics(&item.generics));
        let Some((implemented, _)) = &item.trait_ else {
            let Some(owner) = owner else { return };
            for inner in &item.items {
                let header = if item.generics.params.is_empty() {
                    String::new()
                } else {
                    format!("{header} {}{}: ", text(&item.self_ty), conditions_of(&item.generics))
                };
                if let Some((name, text, attributes)) = public_member(inner) {
                    let outer: Vec<String> = outer.iter().cloned().chain(arguments(&item.attrs, "cfg")).collect();
                    self.line(&format!("{owner}::{name}"), &(header + &text + &conditional(&outer, attributes)));
                }
            }
            return;
        };
        let public = self.public_name(path, &names(implemented)).is_some();
        let internal = traits.contains(&last_name(implemented)) && !public;
        // Conversions of a public type into a type of another crate name the public type as an argument.
        let named = generic_arguments(implemented);
        let is_internal =
            |argument: &Names| self.resolve(path, argument).is_some() && self.public_name(path, argument).is_none();
        let named_public = named.iter().any(|argument| self.public_name(path, argument).is_some());
        let target_internal = matches!(target, Type::Path(target) if is_internal(&names(&target.path)));
        let hidden = internal || target_internal || named.iter().any(is_internal);
        if hidden || (owner.is_none() && !public && !named_public) {
            return;
        }
        let types = item.items.iter().filter_map(|inner| match inner {
            ImplItem::Type(inner) => Some(format!(" {{ type {} = {} }}", inner.ident, text(&inner.ty))),
            _ => None,
        });
        let types: String = types.collect();
        let [implemented, target] = [text(implemented), text(&item.self_ty)];
        let owner = owner.unwrap_or_else(|| target.clone());
        let bounds = conditions_of(&item.generics);
        self.line(&owner, &format!("{header} {implemented} for {target}{bounds}{types}{conditions}"));
    }

    /// The macros that are defined in the modules, or those that are called there.
    fn macros(&self, defined: bool) -> Vec<(Names, ItemMacro)> {
        let items = self.modules.iter().flat_map(|module| module.items.iter().map(|item| (&module.path, item)));
        let macros = items.filter_map(|(path, item)| match item {
            Item::Macro(item) if item.ident.is_some() == defined => Some((path.clone(), item.clone())),
            _ => None,
        });
        macros.collect()
    }

    /// Lists the exported macros, and the macros that write public items with what they are called for.
    fn list_macros(&mut self) {
        for (path, definition) in self.macros(true) {
            let name = definition.ident.as_ref().map(ToString::to_string).unwrap_or_default();
            if definition.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) {
                // The rules after the first are the macro's own business.
                let rules = text(&definition.mac.tokens);
                self.line(&format!("{name}!"), rules.split(" => {").next().unwrap_or_default());
                continue;
            }
            let written = written_by(&definition);
            let mut traits = written.iter().filter_map(|line| line.strip_prefix("impl ")?.split(" for ").next());
            let of_public_trait = traits.any(|name| self.public_name(&path, &[name.to_owned()]).is_some());
            let calls = self.macros(false).into_iter().filter(|(_, call)| last_name(&call.mac.path) == name);
            let listed: usize = calls.map(|(path, call)| self.list_call(&name, of_public_trait, &path, &call)).sum();
            if listed > 0 {
                written.iter().for_each(|line| self.line(&format!("{name}!"), line));
            }
        }
    }

    /// Lists the public types that a macro is called for, and says how many they are. A macro that implements a public
    /// trait does so for its first argument, whatever type that is.
    fn list_call(&mut self, name: &str, of_public_trait: bool, path: &[String], call: &ItemMacro) -> usize {
        let arguments = plain_arguments(call).into_iter().enumerate();
        let types = arguments.filter_map(|(number, (noticed, argument))| {
            let public = self.public_name(path, &argument).map(str::to_owned);
            let subject = public.or_else(|| (of_public_trait && number == 0).then(|| argument.join("::")));
            subject.map(|subject| (noticed, subject))
        });
        let types: Vec<(String, String)> = types.collect();
        for (noticed, subject) in &types {
            self.line(subject, &format!("{noticed}by {name}!"));
        }
        if let Some((_, subject)) = types.first() {
            for (noticed, entry) in entries(call) {
                self.line(&format!("{subject}::{entry}"), &format!("{noticed}by {name}!"));
            }
        }
        types.len()
    }
}

fn generics(generics: &syn::Generics) -> String {
    if generics.params.is_empty() { String::new() } else { one_line(&format!("<{}>", text(&generics.params))) }
}

/// The `where` of generics.
fn conditions_of(generics: &syn::Generics) -> String {
    generics.where_clause.as_ref().map(|clause| format!(" {}", text(clause))).unwrap_or_default()
}

/// The types that stand as arguments behind a trait's name.
fn generic_arguments(implemented: &syn::Path) -> Vec<Names> {
    let arguments = implemented.segments.last().map(|segment| &segment.arguments);
    let Some(syn::PathArguments::AngleBracketed(arguments)) = arguments else { return Vec::new() };
    let types = arguments.args.iter().filter_map(|argument| match argument {
        syn::GenericArgument::Type(Type::Path(argument)) => Some(names(&argument.path)),
        syn::GenericArgument::Type(Type::Reference(reference)) => match &*reference.elem {
            Type::Path(argument) => Some(names(&argument.path)),
            _ => None,
        },
        _ => None,
    });
    types.collect()
}

fn trait_item(item: &TraitItem) -> (String, String) {
    match item {
        TraitItem::Fn(item) => {
            let provided = if item.default.is_some() { " { .. }" } else { "" };
            (item.sig.ident.to_string(), text(&item.sig) + provided)
        }
        TraitItem::Const(item) => (item.ident.to_string(), format!("const {}: {}", item.ident, text(&item.ty))),
        TraitItem::Type(item) => (item.ident.to_string(), text(item)),
        other => (String::new(), text(other)),
    }
}

/// A public function or constant of an `impl`: its name, what it is, and its attributes.
fn public_member(item: &ImplItem) -> Option<(String, String, &[Attribute])> {
    match item {
        ImplItem::Fn(item) if matches!(item.vis, Visibility::Public(_)) && !is_test(&item.attrs) => {
            let text = format!("{}pub {}", noticed(&item.attrs), text(&item.sig));
            Some((item.sig.ident.to_string(), text, &item.attrs))
        }
        ImplItem::Const(item) if matches!(item.vis, Visibility::Public(_)) && !is_test(&item.attrs) => {
            Some((item.ident.to_string(), format!("pub const {}: {}", item.ident, text(&item.ty)), &item.attrs))
        }
        _ => None,
    }
}

fn public_items() -> BTreeSet<String> {
    let mut library = Library::read();
    library.list_module(&[]);
    library.list_declarations();
    library.list_impls();
    library.list_macros();
    library.lines
}

#[test]
fn a_change_to_the_public_items_is_seen() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/public_items.txt");
    let items = public_items();
    let listed: String = items.iter().map(|line| line.to_owned() + "\n").collect();
    if std::env::var_os("WGPU_POOLING_WRITE").is_some_and(|value| value == "1") {
        std::fs::write(&file, &listed).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    let before =
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}\n{COMMAND}", file.display()));
    let before: BTreeSet<String> = before.lines().map(str::to_owned).collect();
    let gone = before.difference(&items).map(|line| format!("-{line}\n"));
    let new = items.difference(&before).map(|line| format!("+{line}\n"));
    let changes: String = gone.chain(new).collect();
    assert!(
        changes.is_empty(),
        "The public items are no longer those of tests/public_items.txt. If that is meant, {COMMAND} writes the file \
            anew.\n{changes}"
    );
}

/// An item of each kind is found.
#[test]
fn the_list_has_every_kind_of_item() {
    let items = public_items();
    for begin in [
        "AutoPad: #[non_exhaustive] by option!",
        "AutoPad::NotSet = \"NOTSET\": #[default] by option!",
        "AutoPad: by parse_names!",
        "AutoPad::SameUpper = \"SAME_UPPER\": by option!",
        "Buffers::x: pub Option",
        "DType::ALL: pub const ALL: [DType; 12]",
        "DType::bytes: pub const fn bytes(self) -> usize",
        "Element::greater: fn greater(self, other: Self) -> bool",
        "Gpu::new: pub async fn new() -> Result<Gpu, ExecuteError> [feature = \"gpu\"]",
        "MAX_ITERATIONS: pub const ",
        "MaxPool: by pool_options!",
        "PlanError::UnknownValue: variant (attribute: ",
        "bf16: by float_element!",
        "half: pub use half",
        "option!: pub const fn name(self) -> &'static str",
        "pool_options!: pub fn layout(mut self, layout: Layout) -> Self",
        "reference::max_pool: pub fn max_pool<",
        "with_element!: ($dtype:expr, $type:ident => $body:expr)",
    ] {
        assert!(items.iter().any(|item| item.starts_with(begin)), "{begin}");
    }
}
