//! The items of a crate, read from its sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use syn::spanned::Spanned;
use syn::{Field, ImplItem, Item, ItemImpl, ItemMacro, Type, Variant, Visibility};

use super::syntax::*;

/// A module of the library, and under which conditions it exists.
struct Module {
    path: Names,
    conditions: Vec<String>,
    items: Vec<Item>,
}

pub struct Library {
    modules: Vec<Module>,
    pub lines: BTreeSet<String>,
    /// What is public for the other crates of the library alone.
    pub hidden: BTreeSet<String>,
    /// The items whose documentation should have an example, each with whether it has one.
    pub examples: Vec<(String, bool)>,
    /// What is exported: where it is declared, and its public name.
    exported: Vec<(Names, String)>,
}

impl Library {
    /// The crate in this folder, with its lists.
    pub fn read(folder: &str) -> Library {
        let root = crate::sources::root().join(folder).join("src");
        let (lines, hidden) = (BTreeSet::new(), BTreeSet::new());
        let mut library = Library { modules: Vec::new(), lines, hidden, examples: Vec::new(), exported: Vec::new() };
        library.load(Vec::new(), Vec::new(), &[root.join("lib.rs")], &root);
        library.list_module(&[]);
        library.list_declarations();
        library.list_impls();
        library.list_macros();
        library.list_hidden();
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

    /// Notes an item, its declaration and its source, unless it needs no example.
    fn example(&mut self, name: &str, declaration: &str, source: &impl Spanned) {
        if !is_getter(declaration) {
            let source = source.span().source_text().expect("text that was parsed");
            self.examples.push((name.to_owned(), has_example(&source)));
        }
    }

    /// Lists what a public module exports, and the public modules in it.
    fn list_module(&mut self, path: &[String]) {
        let module = self.module(path).unwrap_or_else(|| panic!("no module {path:?}"));
        let (outer, items) = (module.conditions.clone(), module.items.clone());
        for item in &items {
            match item {
                Item::Use(item) if is_hidden(&item.attrs) => {}
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
            self.example(&name, "", &item);
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
                let listed: Vec<(String, &Field)> =
                    fields(item).filter(|(_, field)| !is_hidden(&field.attrs)).collect();
                let rest = if listed.len() < item.fields.len() { " { .. }" } else { "" };
                let head = format!("{}pub struct {}{}", noticed(&item.attrs), item.ident, generics(&item.generics));
                self.line(name, &(head + rest + &conditional(outer, &item.attrs)));
                for (field_name, field) in listed {
                    self.line(&format!("{name}::{field_name}"), &format!("pub {}", text(&field.ty)));
                }
            }
            Item::Enum(item) => {
                let head = format!("{}pub enum {}{}", noticed(&item.attrs), item.ident, generics(&item.generics));
                self.line(name, &(head + &conditional(outer, &item.attrs)));
                for variant in item.variants.iter().filter(|variant| !is_hidden(&variant.attrs)) {
                    self.line(&format!("{name}::{}", variant.ident), &variant_text(variant));
                }
            }
            Item::Trait(item) => {
                let bounds = item.supertraits.iter().map(text).collect::<Vec<_>>().join(" + ");
                let bounds = if bounds.is_empty() { bounds } else { format!(": {bounds}") };
                let head = format!("pub trait {}{}{bounds}", item.ident, generics(&item.generics));
                self.line(name, &(head + &conditional(outer, &item.attrs)));
                for item in item.items.iter().filter(|item| !is_hidden_in_trait(item)) {
                    let (inner, text) = trait_item(item);
                    self.example(&format!("{name}::{inner}"), &text, item);
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
                if let Some((name, text, attributes)) = public_member(inner)
                    && !is_hidden(attributes)
                {
                    self.example(&format!("{owner}::{name}"), &text, inner);
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

    /// Lists the fields and functions that the documentation leaves out, and what hidden modules export.
    fn list_hidden(&mut self) {
        let items = self.modules.iter().flat_map(|module| module.items.iter().map(|item| (&module.path, item)));
        for (path, item) in items {
            match item {
                Item::Struct(item) => {
                    let fields = fields(item).filter(|(_, field)| is_hidden(&field.attrs));
                    let line =
                        |(name, field): (String, &Field)| format!("{}::{name}: pub {}", item.ident, text(&field.ty));
                    self.hidden.extend(fields.map(line));
                }
                Item::Impl(item) if item.trait_.is_none() && !is_test(&item.attrs) => {
                    let members = item.items.iter().filter_map(public_member);
                    let hidden = members.filter(|(.., attributes)| is_hidden(attributes));
                    let owner = text(&item.self_ty);
                    self.hidden.extend(hidden.map(|(name, text, _)| format!("{owner}::{name}: {text}")));
                }
                Item::Trait(item) => {
                    let hidden = item.items.iter().filter(|inner| is_hidden_in_trait(inner)).map(trait_item);
                    self.hidden.extend(hidden.map(|(name, text)| format!("{}::{name}: {text}", item.ident)));
                }
                Item::Enum(item) => {
                    let hidden = item.variants.iter().filter(|variant| is_hidden(&variant.attrs));
                    let line =
                        |variant: &Variant| format!("{}::{}: {}", item.ident, variant.ident, variant_text(variant));
                    self.hidden.extend(hidden.map(line));
                }
                Item::Use(item) if is_hidden(&item.attrs) => {
                    let uses = brought(&item.tree, &[]).into_iter();
                    self.hidden.extend(uses.map(|(item, from)| format!("{item}: pub use {}", from.join("::"))));
                }
                Item::Mod(item) if is_hidden(&item.attrs) => {
                    let name = joined(path, &item.ident.to_string());
                    let items =
                        self.modules.iter().filter(|module| module.path == name).flat_map(|module| &module.items);
                    let uses = items.filter_map(|item| match item {
                        Item::Use(item) if matches!(item.vis, Visibility::Public(_)) => Some(brought(&item.tree, &[])),
                        _ => None,
                    });
                    let name = name.join("::");
                    self.hidden.extend(
                        uses.flatten().map(|(item, from)| format!("{name}::{item}: pub use {}", from.join("::"))),
                    );
                    self.hidden.insert(format!("{name}: pub mod"));
                }
                _ => {}
            }
        }
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
                for (declaration, source) in members_written_by(&definition) {
                    if !is_getter(&declaration) {
                        self.examples.push((format!("{name}!: {declaration}"), has_example(&source)));
                    }
                }
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

/// The text of a variant, without its name.
fn variant_text(variant: &Variant) -> String {
    let fields = variant.fields.iter().map(|field| match &field.ident {
        Some(ident) => format!("{ident}: {}", text(&field.ty)),
        None => text(&field.ty),
    });
    let fields = fields.collect::<Vec<_>>().join(", ");
    let fields = if fields.is_empty() { fields } else { format!(" ({fields})") };
    format!("{}variant{fields}", noticed(&variant.attrs))
}
