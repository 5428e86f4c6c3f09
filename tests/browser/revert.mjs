// Finds what an agent did yesterday, and prints the commands that revert one change, and the day.

import assert from "node:assert/strict";
import { end, heading, openPalace } from "./palace.mjs";

const opened = await openPalace();
const { page } = opened;
await page.getByRole("link", { name: "Log", exact: true }).click();
const day = page.locator("section", { has: page.getByRole("heading", { name: "Yesterday" }) });
assert.equal(await day.getByRole("heading").innerText(), "Yesterday, Saturday 28 February 2026");
await day.getByText("Revert everything that claude-code did since this day").click();
const command_of_day = await day.locator("pre").innerText();
await day.getByRole("link", { name: "room hall-of-geology" }).click();
assert.match(await heading(page), /room hall-of-geology/);
assert.match(await page.locator("main").innerText(), /renamed from 'Hall of Geology' to 'Hall of Deep Time'/);
const revert = page.locator("section", { has: page.getByRole("heading", { name: "How to revert it" }) });
const command = await revert.locator("pre").first().innerText();
await end(opened);
console.log(`${command.trim()}\n${command_of_day.trim()}`);
