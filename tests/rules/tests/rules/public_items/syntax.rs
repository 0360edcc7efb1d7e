//! What the list says of a part of the source, as text.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, Field, ImplItem, Item, ItemMacro, ItemStruct, Meta, TraitItem, Type, UseTree, Visibility};

/// The names that lead from the crate's root to a module or an item.
pub type Names = Vec<String>;

/// The text of a part of the source, in one line.
pub fn text(node: &impl Spanned) -> String {
    one_line(&node.span().source_text().expect("text that was parsed"))
}

fn one_line(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    [("( ", "("), ("< ", "<"), (", )", ")"), (", >", ">"), (" )", ")")]
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}

pub fn last_name(path: &syn::Path) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

pub fn names(path: &syn::Path) -> Names {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

pub fn joined(path: &[String], name: &str) -> Names {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// The arguments of the attributes of this name.
pub fn arguments(attributes: &[Attribute], name: &str) -> impl Iterator<Item = String> {
    let named = attributes.iter().filter(move |attribute| attribute.path().is_ident(name));
    named.filter_map(|attribute| match &attribute.meta {
        Meta::List(list) => Some(text(&list.tokens)),
        _ => None,
    })
}

/// Whether the documentation leaves the item out, which is then for this library's own crates and tests.
pub fn is_hidden(attributes: &[Attribute]) -> bool {
    arguments(attributes, "doc").any(|argument| argument == "hidden")
}

pub fn is_test(attributes: &[Attribute]) -> bool {
    arguments(attributes, "cfg").any(|condition| condition.starts_with("test") || condition.starts_with("all(test"))
}

/// Whether the documentation with which an item's source begins has an example that the compiler sees.
pub fn has_example(source: &str) -> bool {
    // The call of a macro begins with its name.
    let lines = source.lines().map(str::trim).skip_while(|line| line.ends_with("! {"));
    let documentation = lines.take_while(|line| line.starts_with("///") || line.starts_with("#["));
    let fences = documentation.filter_map(|line| line.strip_prefix("///")?.trim_start().strip_prefix("```"));
    // The begin of a block, which has the block's attributes, and its end.
    fences.collect::<Vec<_>>().chunks(2).any(|block| matches!(block, ["" | "no_run", ""]))
}

/// Whether this declares a method without arguments that returns a value: a sentence says what it returns, and it needs
/// no example.
pub fn is_getter(declaration: &str) -> bool {
    let declaration = declaration.trim_start_matches("pub ").trim_start_matches("const ");
    declaration.starts_with("fn ") && (declaration.contains("(&self) -> ") || declaration.contains("(self) -> "))
}

/// The attributes that callers notice.
pub fn noticed(attributes: &[Attribute]) -> String {
    let kinds = ["default", "deprecated", "derive", "non_exhaustive", "repr"];
    let noticed = attributes.iter().filter(|attribute| kinds.iter().any(|kind| attribute.path().is_ident(kind)));
    // The text of a must_use is documentation.
    let must_use = attributes.iter().any(|attribute| attribute.path().is_ident("must_use"));
    let mut texts: Vec<String> = noticed.map(text).collect();
    texts.extend(must_use.then(|| "#[must_use]".to_owned()));
    texts.into_iter().map(|text| text + " ").collect()
}

/// Conditions in brackets, without doubles: `[feature = "gpu"]`.
pub fn conditional(outer: &[String], attributes: &[Attribute]) -> String {
    let all: BTreeSet<String> = outer.iter().cloned().chain(arguments(attributes, "cfg")).collect();
    all.into_iter().map(|condition| format!(" [{condition}]")).collect()
}

/// The names that a `use` brings, each with its path; `*` stands for all names of a module.
pub fn brought(tree: &UseTree, before: &[String]) -> Vec<(String, Names)> {
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
pub fn declared(item: &Item) -> Option<String> {
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
pub fn plain_arguments(call: &ItemMacro) -> Vec<(String, Names)> {
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

/// The public fields of a struct, each with its name.
pub fn fields(item: &ItemStruct) -> impl Iterator<Item = (String, &Field)> {
    let public = item.fields.iter().enumerate().filter(|(_, field)| matches!(field.vis, Visibility::Public(_)));
    public.map(|(number, field)| (field.ident.as_ref().map_or(number.to_string(), ToString::to_string), field))
}

/// The entries between the braces of a macro's call.
pub fn entries(call: &ItemMacro) -> Vec<(String, String)> {
    let entries = braced(call).flat_map(listed_in);
    entries.map(|(attributes, rest)| (noticed(&attributes), rest.to_string())).collect()
}

/// The lines of a macro that begin a public item, an `impl`, or say what is derived.
pub fn written_by(definition: &ItemMacro) -> Vec<String> {
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

/// The public functions and constants that a macro writes: the line that declares each, and what documents it.
pub fn members_written_by(definition: &ItemMacro) -> Vec<(String, String)> {
    let source = definition.mac.tokens.span().source_text().expect("text that was parsed");
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let declares = |line: &str| ["pub fn ", "pub const ", "pub async "].iter().any(|begin| line.starts_with(begin));
    let members = lines.iter().enumerate().filter(|(_, line)| declares(line));
    let member = |(at, line): (usize, &&str)| {
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("///") || line.starts_with("#["));
        let begin = at - above.count();
        ((*line).to_owned(), lines[begin..at].join("\n"))
    };
    members.map(member).collect()
}

pub fn generics(generics: &syn::Generics) -> String {
    if generics.params.is_empty() { String::new() } else { one_line(&format!("<{}>", text(&generics.params))) }
}

/// The `where` of generics.
pub fn conditions_of(generics: &syn::Generics) -> String {
    generics.where_clause.as_ref().map(|clause| format!(" {}", text(clause))).unwrap_or_default()
}

/// The types that stand as arguments behind a trait's name.
pub fn generic_arguments(implemented: &syn::Path) -> Vec<Names> {
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

pub fn is_hidden_in_trait(item: &TraitItem) -> bool {
    matches!(item, TraitItem::Fn(item) if is_hidden(&item.attrs))
}

pub fn trait_item(item: &TraitItem) -> (String, String) {
    match item {
        TraitItem::Fn(item) => {
            let provided = if item.default.is_some() { " { .. }" } else { "" };
            (item.sig.ident.to_string(), text(&item.sig) + provided)
        }
        TraitItem::Const(item) => (item.ident.to_string(), format!("const {}: {}", item.ident, text(&item.ty))),
        TraitItem::Type(item) => (item.ident.to_string(), format!("type {}: {}", item.ident, text(&item.bounds))),
        other => (String::new(), text(other)),
    }
}

/// A public function or constant of an `impl`: its name, what it is, and its attributes.
pub fn public_member(item: &ImplItem) -> Option<(String, String, &[Attribute])> {
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
