//! Places rooms on a lattice, one after the other in the order in which they came into the palace:
//! each on the free cell that is best beside the rooms that it has doors to. So a map keeps its shape
//! when the palace grows.

use std::collections::{BTreeSet, HashMap};

/// A cell: column and row.
pub(super) type Cell = (i32, i32);

/// Half the width and half the height of a room's box, in cells.
const HALF_BOX: (f64, f64) = (0.42, 0.28);

/// How far from the rooms beside it a room is placed, in cells, if there is room.
const REACH: i32 = 3;

/// The costs of a door: for each cell that it is longer than one, if it is diagonal, if it is
/// oblique, for each room that it runs behind, for each door that it crosses.
const LENGTH: i64 = 100;
const DIAGONAL: i64 = 30;
const OBLIQUE: i64 = 80;
const ROOM_IN_THE_WAY: i64 = 400;
const CROSSING: i64 = 300;

/// The number of rooms beside a room that count for its place, and that move with it: the oldest ones.
const MAX_BESIDE: usize = 12;

/// The number of doors up to which the best cell is sought, and rooms are moved again. A map with more has
/// crossings anyway, and each room would be compared with all doors.
const MAX_COMPARED_DOORS: usize = 120;

/// The rooms that are placed already, by number.
struct Lattice {
    cells: Vec<Cell>,
    rooms: HashMap<Cell, usize>,
    /// The rooms beside each room, placed or not.
    beside: Vec<BTreeSet<usize>>,
    /// The doors between placed rooms.
    doors: Vec<(usize, usize)>,
}

/// Returns the cells of `count` rooms in the order in which they came, with these doors.
pub(super) fn place_rooms(count: usize, doors: &[(usize, usize)]) -> Vec<Cell> {
    let mut beside = vec![BTreeSet::new(); count];
    for (a, b) in doors.iter().filter(|(a, b)| a != b) {
        beside[*a].insert(*b);
        beside[*b].insert(*a);
    }
    let mut lattice =
        Lattice { cells: Vec::new(), rooms: HashMap::new(), beside, doors: Vec::new() };
    for room in 0..count {
        lattice.place(room);
    }
    lattice.cells
}

/// Counts the pairs of doors that cross.
#[cfg(test)]
pub(super) fn count_crossings(cells: &[Cell], doors: &[(usize, usize)]) -> usize {
    let crosses = |a: &(usize, usize), b: &(usize, usize)| {
        let apart = a.0 != b.0 && a.0 != b.1 && a.1 != b.0 && a.1 != b.1;
        apart && do_cross((cells[a.0], cells[a.1]), (cells[b.0], cells[b.1]))
    };
    let later = |index: usize| doors[index + 1..].iter();
    doors.iter().enumerate().map(|(index, a)| later(index).filter(|b| crosses(a, b)).count()).sum()
}

/// Returns whether a door between two cells runs behind the box of a third.
pub(super) fn runs_behind((from, to): (Cell, Cell), room: Cell) -> bool {
    let at = |cell: Cell| (f64::from(cell.0), f64::from(cell.1));
    let (from, to, room) = (at(from), at(to), at(room));
    let step = (to.0 - from.0, to.1 - from.1);
    let (mut enters, mut leaves) = (0.0_f64, 1.0_f64);
    let sides = [
        (-step.0, from.0 - (room.0 - HALF_BOX.0)),
        (step.0, room.0 + HALF_BOX.0 - from.0),
        (-step.1, from.1 - (room.1 - HALF_BOX.1)),
        (step.1, room.1 + HALF_BOX.1 - from.1),
    ];
    for (speed, distance) in sides {
        if speed.abs() < 1e-9 {
            if distance < 0.0 {
                return false;
            }
            continue;
        }
        match speed < 0.0 {
            true => enters = enters.max(distance / speed),
            false => leaves = leaves.min(distance / speed),
        }
    }
    enters <= leaves
}

impl Lattice {
    /// Places the next room, and moves the rooms nearby that have only one door, where that is
    /// better then.
    fn place(&mut self, room: usize) {
        let cell = self.best_cell(room);
        self.cells.push(cell);
        self.rooms.insert(cell, room);
        let beside: Vec<_> = self.beside[room].range(..room).copied().collect();
        self.doors.extend(beside.iter().map(|it| (*it, room)));
        if self.doors.len() > MAX_COMPARED_DOORS {
            return;
        }
        let nearby = beside.iter().flat_map(|it| &self.beside[*it]);
        let is_leaf = |it: &usize| *it < room && self.placed_beside(*it).count() == 1;
        let leaves: BTreeSet<_> = nearby.copied().filter(is_leaf).take(MAX_BESIDE).collect();
        for leaf in leaves {
            self.improve(leaf);
        }
    }

    fn placed_beside(&self, room: usize) -> impl Iterator<Item = usize> {
        self.beside[room].range(..self.cells.len()).copied().take(MAX_BESIDE)
    }

    /// Moves a room to a better cell, if there is one.
    fn improve(&mut self, room: usize) {
        let old = self.cells[room];
        self.rooms.remove(&old);
        let best = self.best_cell(room);
        let is_better = self.cost(room, best) < self.cost(room, old);
        let cell = if is_better { best } else { old };
        self.cells[room] = cell;
        self.rooms.insert(cell, room);
    }

    /// Returns the free cell that costs least.
    fn best_cell(&self, room: usize) -> Cell {
        if self.doors.len() > MAX_COMPARED_DOORS {
            return self.nearest_free_cell(room);
        }
        let mut reach = REACH;
        loop {
            let mut centres: Vec<_> = self.placed_beside(room).map(|it| self.cells[it]).collect();
            if centres.is_empty() {
                centres.push((0, 0));
            }
            let around = |(column, row): Cell| {
                let rows = -reach..=reach;
                rows.flat_map(move |y| (-reach..=reach).map(move |x| (column + x, row + y)))
            };
            let cells: BTreeSet<_> = centres.iter().copied().flat_map(around).collect();
            let free = cells.into_iter().filter(|it| !self.rooms.contains_key(it));
            // Of equal cells, which one is chosen depends on the oldest room beside it alone: so a
            // part of the map that moves keeps its shape.
            let anchor = centres[0];
            let offset = |it: &Cell| (it.0 - anchor.0, it.1 - anchor.1);
            let best = free.min_by_key(|it| {
                let (x, y) = offset(it);
                (self.cost(room, *it), x.abs().max(y.abs()), (x, y))
            });
            match best {
                Some(best) => return best,
                None => reach *= 2,
            }
        }
    }

    /// Returns the first free cell around the oldest room beside a room.
    fn nearest_free_cell(&self, room: usize) -> Cell {
        let (column, row) = self.placed_beside(room).next().map_or((0, 0), |it| self.cells[it]);
        let ring = |reach: i32| {
            let cells = (-reach..=reach).flat_map(move |y| (-reach..=reach).map(move |x| (x, y)));
            cells.filter(move |(x, y)| x.abs().max(y.abs()) == reach)
        };
        let cells = (0..).flat_map(ring).map(|(x, y)| (column + x, row + y));
        cells.into_iter().find(|it| !self.rooms.contains_key(it)).unwrap_or_default()
    }

    /// Returns what a cell costs for a room, among the placed rooms.
    fn cost(&self, room: usize, cell: Cell) -> i64 {
        let mut cost = 0;
        for other in self.placed_beside(room) {
            let door = (cell, self.cells[other]);
            cost += length_cost(door) + ROOM_IN_THE_WAY * self.rooms_behind(door);
            let apart = self
                .doors
                .iter()
                .filter(|(a, b)| ![room, other].iter().any(|it| it == a || it == b));
            let crossed = apart.filter(|(a, b)| do_cross(door, (self.cells[*a], self.cells[*b])));
            cost += CROSSING * to_cost(crossed.count());
        }
        let behind = self.doors.iter().filter(|(a, b)| {
            *a != room && *b != room && runs_behind((self.cells[*a], self.cells[*b]), cell)
        });
        cost + ROOM_IN_THE_WAY * to_cost(behind.count())
    }

    /// Counts the rooms that a door runs behind.
    fn rooms_behind(&self, (from, to): (Cell, Cell)) -> i64 {
        let between = |a: i32, b: i32| a.min(b)..=a.max(b);
        let cells = between(from.1, to.1).flat_map(|y| between(from.0, to.0).map(move |x| (x, y)));
        let rooms = cells.filter(|it| *it != from && *it != to && self.rooms.contains_key(it));
        to_cost(rooms.filter(|it| runs_behind((from, to), *it)).count())
    }
}

fn to_cost(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX / CROSSING)
}

fn length_cost((from, to): (Cell, Cell)) -> i64 {
    let (columns, rows) = ((from.0 - to.0).abs(), (from.1 - to.1).abs());
    let direction = match (columns, rows) {
        (0, _) | (_, 0) => 0,
        _ if columns == rows => DIAGONAL,
        _ => OBLIQUE,
    };
    LENGTH * i64::from(columns.max(rows) - 1) + direction
}

/// Returns whether two doors cross, other than at their ends.
fn do_cross((a, b): (Cell, Cell), (c, d): (Cell, Cell)) -> bool {
    let side = |from: Cell, to: Cell, it: Cell| {
        let vector = |to: Cell| (i64::from(to.0 - from.0), i64::from(to.1 - from.1));
        let (to, it) = (vector(to), vector(it));
        (to.0 * it.1 - to.1 * it.0).signum()
    };
    side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rooms_in_a_row_and_around_a_hall_do_not_cross() {
        let row: Vec<_> = (1..8).map(|it| (it - 1, it)).collect();
        let star: Vec<_> = (1..9).map(|it| (0, it)).collect();
        for (count, doors) in [(8, row), (9, star)] {
            let cells = place_rooms(count, &doors);
            assert_eq!(cells.iter().collect::<BTreeSet<_>>().len(), count, "each has its own cell");
            assert_eq!(count_crossings(&cells, &doors), 0);
        }
    }

    #[test]
    fn rooms_with_doors_to_each_other_are_placed_with_few_comparisons() {
        let all: Vec<_> = (0..150).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
        let star: Vec<_> = (1..1_000).map(|it| (0, it)).collect();
        for (count, doors) in [(150, all), (1_000, star)] {
            let cells = place_rooms(count, &doors);
            assert_eq!(cells.iter().collect::<BTreeSet<_>>().len(), count);
        }
    }

    /// Returns the doors of a palace that grew: each room has a door to an earlier one, and some have
    /// a second. `seed` chooses which.
    fn doors_of_grown_palace(count: usize, seed: usize) -> Vec<(usize, usize)> {
        let choice = |it: usize| (it + seed).wrapping_mul(2_654_435_761) >> 13;
        let first = (1..count).map(|it| (choice(it) % it, it));
        let second = (4..count).filter(|it| choice(it * 7).is_multiple_of(3));
        first.chain(second.map(|it| (choice(it * 5 + 1) % it, it))).collect()
    }

    #[test]
    fn the_newest_room_leaves_the_directions_of_other_doors_as_they_are() {
        let (mut kept, mut all) = (0, 0);
        for seed in 0..20 {
            let doors = doors_of_grown_palace(60, seed);
            let before = place_rooms(60, &doors);
            let mut more = doors.clone();
            more.push((seed * 3 % 60, 60));
            let after = place_rooms(61, &more);
            let direction = |cells: &[Cell], (a, b): (usize, usize)| {
                ((cells[b].0 - cells[a].0).signum(), (cells[b].1 - cells[a].1).signum())
            };
            let is_kept =
                |it: &&(usize, usize)| direction(&before, **it) == direction(&after, **it);
            kept += doors.iter().filter(is_kept).count();
            all += doors.len();
        }
        assert!(kept * 100 >= all * 99, "{kept} of {all}");
    }
}
