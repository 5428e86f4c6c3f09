// Finds what an agent did yesterday, and prints the commands that revert one change, and the whole
// conversation.

import assert from "node:assert/strict";
import { end, heading, openPalace } from "./palace.mjs";

const opened = await openPalace();
const { page } = opened;
await page.getByRole("link", { name: "Log", exact: true }).click();
const day = page.locator("section", { has: page.getByRole("heading", { name: "Yesterday" }) });
assert.equal(await day.getByRole("heading").innerText(), "Yesterday, Saturday 28 February 2026");
assert.match(await day.innerText(), /claude-code: 1 conversation/);
const conversation = day.locator(".visit");
await conversation.getByText("Revert this conversation").click();
const command_of_visit = await conversation.locator("pre").innerText();
await conversation.getByRole("link").click();
assert.equal(await heading(page), "Conversation of claude-code");
const text = await page.locator("main").innerText();
assert.match(text, /renamed from 'Hall of Geology' to 'Hall of Deep Time'/);
assert.match(text, /name: Hall of Deep Time/);
await page.getByRole("link", { name: "room hall-of-geology: " }).click();
assert.match(await heading(page), /room hall-of-geology/);
const revert = page.locator("section", { has: page.getByRole("heading", { name: "How to revert it" }) });
const command = await revert.locator("pre").first().innerText();
await end(opened);
console.log(`${command.trim()}\n${command_of_visit.trim()}`);
