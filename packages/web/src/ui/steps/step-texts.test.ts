import { expect, test } from "bun:test";
import { sharesLines } from "./step-texts.tsx";

test("texts with a line, or with words of one line, in common are compared", () => {
  expect(sharesLines("The door is open.\nIt rains.", "It rains.\nThe door is shut.")).toBe(true);
  expect(sharesLines("The door is open.", "The door is shut.")).toBe(true);
  expect(sharesLines('{"a": 1}', '[{"b": 2}]')).toBe(true);
});

test("a room and an answer have nothing to compare", () => {
  const room = "This room is called the kitchen.\n\ta chair\n\ta counter\n\ta cup\n\ta door\n\ta table";
  expect(sharesLines(room, "You move the cup to the inventory.")).toBe(false);
  expect(sharesLines("", "You see a door.")).toBe(false);
  expect(sharesLines("Nothing happens.", "You open it")).toBe(false);
});
