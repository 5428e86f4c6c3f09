//! The meanings of the menu numbers.

/// The numbering of menus. Numbers never change meaning within a layout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Twelve actions per page; all other choices have higher numbers (v2 section 3.4).
    #[default]
    Wide,
    /// Seven actions per page; 8, 9 and 0 for the other choices (v1 sections 6 and 7).
    Classic,
}

/// The meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// An action of the room: its index on the current page, from 0.
    Action(usize),
    /// The next page of actions.
    More,
    /// The scrolls before those shown.
    OlderScrolls,
    /// The way back.
    Back,
    /// A room by name.
    GoTo,
    /// A search in the whole palace.
    Search,
    /// The inventory of the visitor.
    Inventory,
    /// How to write a scroll.
    WriteScroll,
    /// The map of the palace.
    Map,
    /// Everything that the last answer named.
    Everything,
    /// One of the scrolls shown: its index, from 0.
    Scroll(usize),
    /// The drawers of the room.
    Drawers,
    /// A result of the last query or search: its index, from 0.
    Result(usize),
}

impl Layout {
    /// The number of scrolls that are shown, and can be read by number, at once.
    pub const MAX_SCROLLS: usize = 9;
    /// The number of results that can be opened by number.
    pub const MAX_RESULTS: usize = 30;

    /// Returns the number of actions on one page, for a room with `actions` choices.
    pub fn page_size(self, actions: usize) -> usize {
        match self {
            Self::Wide => 12,
            Self::Classic if actions > 7 => 6,
            Self::Classic => 7,
        }
    }

    /// Returns the meaning of `number` in a room with `actions` choices.
    pub fn slot_of_number(self, number: i64, actions: usize) -> Option<Slot> {
        let number = usize::try_from(number).ok()?;
        let page = self.page_size(actions);
        let slot = match (self, number) {
            (_, 0) => Slot::Map,
            (_, 20) => Slot::Everything,
            (_, 1..) if number <= page => Slot::Action(number - 1),
            (Self::Classic, 7) | (Self::Wide, 13) => Slot::More,
            (Self::Classic, 8) | (Self::Wide, 18) => Slot::Inventory,
            (Self::Classic, 9) | (Self::Wide, 19) => Slot::WriteScroll,
            (_, 14) => Slot::OlderScrolls,
            (_, 15) => Slot::Back,
            (_, 16) => Slot::GoTo,
            (_, 17) => Slot::Search,
            (_, 21..=29) => Slot::Scroll(number - 21),
            (_, 30) => Slot::Drawers,
            (_, 31..=60) => Slot::Result(number - 31),
            _ => return None,
        };
        Some(slot)
    }

    /// Returns the number of `slot`.
    pub fn number_of_slot(self, slot: Slot) -> usize {
        match (self, slot) {
            (_, Slot::Action(index)) => index + 1,
            (Self::Wide, Slot::More) => 13,
            (Self::Classic, Slot::More) => 7,
            (_, Slot::OlderScrolls) => 14,
            (_, Slot::Back) => 15,
            (_, Slot::GoTo) => 16,
            (_, Slot::Search) => 17,
            (Self::Wide, Slot::Inventory) => 18,
            (Self::Classic, Slot::Inventory) => 8,
            (Self::Wide, Slot::WriteScroll) => 19,
            (Self::Classic, Slot::WriteScroll) => 9,
            (_, Slot::Map) => 0,
            (_, Slot::Everything) => 20,
            (_, Slot::Scroll(index)) => 21 + index,
            (_, Slot::Drawers) => 30,
            (_, Slot::Result(index)) => 31 + index,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_slots_map_to_each_other() {
        for layout in [Layout::Wide, Layout::Classic] {
            for actions in [0, 7, 8, 12, 13, 40] {
                for number in 0..70 {
                    if let Some(slot) = layout.slot_of_number(number, actions) {
                        let back = layout.number_of_slot(slot);
                        assert_eq!(i64::try_from(back), Ok(number));
                    }
                }
            }
        }
    }

    #[test]
    fn a_classic_menu_uses_its_seventh_slot_for_more_only_if_needed() {
        assert_eq!(Layout::Classic.slot_of_number(7, 7), Some(Slot::Action(6)));
        assert_eq!(Layout::Classic.slot_of_number(7, 8), Some(Slot::More));
    }

    #[test]
    fn unassigned_numbers_have_no_slot() {
        for number in [-1, 61, i64::MIN, i64::MAX] {
            assert_eq!(Layout::Wide.slot_of_number(number, 5), None, "{number}");
        }
        assert_eq!(Layout::Classic.slot_of_number(12, 5), None);
    }
}
