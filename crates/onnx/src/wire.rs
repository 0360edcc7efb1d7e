//! The wire format of Protocol Buffers, read where it lies: nothing is copied, and a file cannot make the reader
//! allocate.

use super::budget::Budget;
use super::error::{ModelError, at_most};

/// A message: its bytes, and where in the file they begin.
#[derive(Debug, Default, Clone, Copy)]
pub struct Message<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    /// The budget from which reading its fields is spent. A tensor by itself has none, since it is read once.
    budget: Option<&'a Budget>,
}

/// A field of a message.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    pub number: u64,
    /// Where in the file the field begins.
    at: usize,
    value: Wire<'a>,
}

/// The value of a field as it is encoded.
#[derive(Debug, Clone, Copy)]
enum Wire<'a> {
    Varint(u64),
    /// Four or eight bytes.
    Fixed(Message<'a>),
    Bytes(Message<'a>),
}

/// The fields of a message, in the order of the file. After an error there are no more.
pub struct Fields<'a> {
    rest: Message<'a>,
}

impl<'a> Message<'a> {
    /// A message that begins at a byte of its file.
    pub fn at(bytes: &'a [u8], at: usize) -> Self {
        Message { bytes, at, budget: None }
    }

    /// A whole file.
    pub fn of_file(bytes: &'a [u8], budget: &'a Budget) -> Self {
        Message { bytes, at: 0, budget: Some(budget) }
    }

    pub fn spend(&self, steps: u64) -> Result<(), ModelError> {
        self.budget.map_or(Ok(()), |budget| budget.spend(steps))
    }

    pub fn fields(self) -> Fields<'a> {
        Fields { rest: self }
    }

    /// The fields with this number.
    pub fn numbered(self, number: u64) -> impl Iterator<Item = Result<Field<'a>, ModelError>> {
        self.fields().filter(move |field| field.as_ref().map_or(true, |field| field.number == number))
    }

    /// The bytes up to a length, which are taken off the front.
    fn take(&mut self, length: u64) -> Result<Message<'a>, ModelError> {
        let length = usize::try_from(length).ok().filter(|&length| length <= self.bytes.len());
        let Some(length) = length else {
            return Err(ModelError::Malformed { what: "a field is longer than its message", at: self.at });
        };
        let (bytes, rest) = self.bytes.split_at(length);
        let taken = Message { bytes, ..*self };
        *self = Message { bytes: rest, at: self.at.saturating_add(length), ..*self };
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ModelError> {
        let taken = self.take(N as u64)?;
        taken.bytes.try_into().map_err(|_| ModelError::Malformed { what: "a number is cut off", at: taken.at })
    }

    /// A number of seven bits a byte, the lowest first, in at most ten bytes; what exceeds 64 bits is dropped, as other
    /// readers do.
    fn varint(&mut self) -> Result<u64, ModelError> {
        let begin = self.at;
        let mut value = 0;
        for shift in (0..70).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7F).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                self.spend(u64::from(shift / 28).saturating_add(1))?;
                return Ok(value);
            }
        }
        Err(ModelError::Malformed { what: "a number has more than ten bytes", at: begin })
    }

    fn text(self, what: &'static str) -> Result<&'a str, ModelError> {
        self.budget.map_or(Ok(()), |budget| budget.spend_text(self.bytes))?;
        std::str::from_utf8(self.bytes).map_err(|_| ModelError::Malformed { what, at: self.at })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<Field<'a>, ModelError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.bytes.is_empty() {
            return None;
        }
        let field = self.read();
        if field.is_err() {
            self.rest.bytes = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn read(&mut self) -> Result<Field<'a>, ModelError> {
        let at = self.rest.at;
        let key = self.rest.varint()?;
        let value = match key & 7 {
            0 => Wire::Varint(self.rest.varint()?),
            1 => Wire::Fixed(self.rest.take(8)?),
            2 => {
                let length = self.rest.varint()?;
                Wire::Bytes(self.rest.take(length)?)
            }
            5 => Wire::Fixed(self.rest.take(4)?),
            _ => return Err(ModelError::Malformed { what: "a field is of no known wire type", at }),
        };
        match key >> 3 {
            0 => Err(ModelError::Malformed { what: "a field has the number 0", at }),
            number => Ok(Field { number, at, value }),
        }
    }
}

impl<'a> Field<'a> {
    pub fn int(self) -> Result<i64, ModelError> {
        match self.value {
            Wire::Varint(value) => Ok(value.cast_signed()),
            _ => Err(self.wrong("a field is not the integer that it should be")),
        }
    }

    pub fn message(self) -> Result<Message<'a>, ModelError> {
        match self.value {
            Wire::Bytes(message) => Ok(message),
            _ => Err(self.wrong("a field is not the message that it should be")),
        }
    }

    pub fn text(self) -> Result<&'a str, ModelError> {
        self.message()?.text("a text is not UTF-8")
    }

    /// Appends the integers of a repeated field, in the packed form or one by one.
    pub fn ints(self, list: &mut Vec<i64>, what: &'static str, most: usize) -> Result<(), ModelError> {
        self.each_int(|value| push(list, value, what, most))
    }

    /// Calls `take` with each integer of a repeated field, in the packed form or not.
    pub fn each_int(self, mut take: impl FnMut(i64) -> Result<(), ModelError>) -> Result<(), ModelError> {
        let Wire::Bytes(mut packed) = self.value else {
            return take(self.int()?);
        };
        while !packed.bytes.is_empty() {
            take(packed.varint()?.cast_signed())?;
        }
        Ok(())
    }

    /// Calls `take` with the bytes of each `float` or each `double` of a repeated field, in the packed form or not.
    pub fn each_fixed<const N: usize>(
        self,
        mut take: impl FnMut([u8; N]) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let mut numbers = match self.value {
            Wire::Fixed(number) if number.bytes.len() == N => number,
            Wire::Bytes(packed) => {
                packed.spend(packed.bytes.len() as u64)?;
                packed
            }
            _ if N == 4 => return Err(self.wrong("a field is not the float that it should be")),
            _ => return Err(self.wrong("a field is not the double that it should be")),
        };
        while !numbers.bytes.is_empty() {
            take(numbers.array()?)?;
        }
        Ok(())
    }

    fn wrong(self, what: &'static str) -> ModelError {
        ModelError::Malformed { what, at: self.at }
    }
}

/// Appends to a list that may have at most `most` values.
pub fn push<T>(list: &mut Vec<T>, value: T, what: &'static str, most: usize) -> Result<(), ModelError> {
    at_most(what, (list.len() as u64).saturating_add(1), most as u64)?;
    list.push(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn only(bytes: &[u8]) -> Result<Field<'_>, ModelError> {
        Message::at(bytes, 0).fields().next().unwrap()
    }

    #[test]
    fn what_is_cut_off_or_unknown_is_refused() {
        for bytes in [&[0x0A, 5, 1][..], &[0x08], &[0x0D, 1, 2], &[0x09, 1], &[0x0B], &[0x00, 1], &[0x0A, 0xFF]] {
            assert!(matches!(only(bytes), Err(ModelError::Malformed { .. })), "{bytes:?}");
        }
        assert!(only(&[&[0x08][..], &[0xFF; 11]].concat()).is_err(), "a number of eleven bytes");
        let length = [&[0x0A][..], &[0xFF; 9], &[0x01]].concat();
        assert!(matches!(only(&length), Err(ModelError::Malformed { at: 11, .. })), "a length of 2^64 - 1");
        assert_eq!(Message::at(&[0x0B, 0x0B], 0).fields().count(), 1, "nothing after an error");
    }
}
