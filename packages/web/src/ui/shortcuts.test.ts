import { expect, test } from "bun:test";
import { createShortcuts, type Shortcut } from "./shortcuts.tsx";

function recorded() {
  const ran: string[] = [];
  const shortcuts = createShortcuts();
  const shortcut = (keys: string, label = keys): Shortcut => ({
    keys,
    label,
    group: "Test",
    run: () => ran.push(label),
  });
  const press = (key: string, { atMs = 0, hasMod = false } = {}) => shortcuts.press({ key, hasMod, atMs });
  return { ran, shortcuts, shortcut, press };
}

test("a key runs its shortcut; of two with the same key, the newer one until it is gone", () => {
  const { ran, shortcuts, shortcut, press } = recorded();
  shortcuts.register(shortcut("j", "old"));
  const remove = shortcuts.register(shortcut("j", "new"));
  expect(press("j")).toBe(true);
  remove();
  press("j");
  expect(press("k")).toBe(false);
  expect(ran).toEqual(["new", "old"]);
});

test("two keys one after the other run a shortcut, unless too much time passes", () => {
  const { ran, shortcuts, shortcut, press } = recorded();
  shortcuts.register(shortcut("g r"));
  shortcuts.register(shortcut("r"));
  press("g");
  press("r", { atMs: 500 });
  press("g", { atMs: 1_000 });
  press("r", { atMs: 9_000 });
  expect(ran).toEqual(["g r", "r"]);
});

test("a key with Control is another one", () => {
  const { ran, shortcuts, shortcut, press } = recorded();
  shortcuts.register(shortcut("mod+k"));
  expect(press("k")).toBe(false);
  expect(press("K", { hasMod: true })).toBe(true);
  expect(ran).toEqual(["mod+k"]);
});

test("who lists them is told of changes", () => {
  const { shortcuts, shortcut } = recorded();
  let told = 0;
  shortcuts.subscribe(() => {
    told++;
  });
  const before = shortcuts.list();
  const remove = shortcuts.register(shortcut("j"));
  expect(shortcuts.list()).not.toBe(before);
  remove();
  expect(shortcuts.list()).toEqual([]);
  expect(told).toBe(2);
});
