//! Elements in words: what the texts that are written out say about a binding that is wider than an element.

/// A binding: its name, the bytes of an element, and the words of a load or a store.
pub(super) struct Stored {
    pub name: &'static str,
    pub bytes: u32,
    pub words: u32,
}

/// The type of some words.
pub(super) fn words(count: u32) -> String {
    if count == 1 { "u32".to_owned() } else { format!("vec{count}<u32>") }
}

impl Stored {
    /// Elements of a load.
    pub fn per_load(&self) -> u32 {
        self.words * 4 / self.bytes
    }

    /// An element of what was loaded.
    pub fn element(&self, load: &str, element: u32) -> String {
        if self.bytes == 8 {
            let pair = ["xy", "zw"][element as usize % 2];
            return if self.words == 4 { format!("{load}.{pair}") } else { load.to_owned() };
        }
        let lanes = 4 / self.bytes;
        let word = match self.words {
            1 => load.to_owned(),
            _ => format!("{load}.{}", ["x", "y", "z", "w"][(element / lanes) as usize % 4]),
        };
        match self.bytes {
            4 => word,
            2 => format!("({word} >> {}u) & 0xffffu", element % lanes * 16),
            _ => format!("({word} >> {}u) & 0xffu", element % lanes * 8),
        }
    }

    /// An element by its place in the binding.
    pub fn single(&self, place: &str) -> String {
        let name = self.name;
        match (self.bytes, self.words) {
            (8, 4) => format!("select({name}[({place}) >> 1u].xy, {name}[({place}) >> 1u].zw, (({place}) & 1u) == 1u)"),
            (8, _) => format!("{name}[{place}]"),
            (bytes, wide) => {
                let lanes = 4 / bytes;
                let word = match wide {
                    1 => format!("{name}[({place}) / {lanes}u]"),
                    _ => format!("{name}[({place}) / {}u][({place}) / {lanes}u % {wide}u]", lanes * wide),
                };
                match bytes {
                    4 => word,
                    2 => format!("({word} >> ((({place}) & 1u) * 16u)) & 0xffffu"),
                    _ => format!("({word} >> ((({place}) & 3u) * 8u)) & 0xffu"),
                }
            }
        }
    }
}
