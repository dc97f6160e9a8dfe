import { expect, test } from "bun:test";
import { parseRooms, renderRoom } from "./room.ts";

const shed = [
  "This outside location is called the shed. Here you see: ",
  "\tan acorn",
  "\tthe agent",
  "\ta bed. On the bed is: a mat. On the mat is: a cushion..",
  "\ta box. The box door is open. In the box is: a lamp, which is off, a pot (containing a bulb in the seedling stage (that looks unwell), soil).",
  "\ta ramp with a paper surface, with: a brick approximately 14% down the plane",
  "\ta stove, which is turned off. The stove door is closed. ",
  "You also see:",
  "\tA door to the yard (that is open)",
].join("\n");

test("parsing and rendering a list gives the same list", () => {
  const [room] = parseRooms(shed);
  expect(room && renderRoom(room)).toBe(shed);
});

test("the same list on one line gives the same room", () => {
  const oneLine = shed.replace("\tthe agent\n", "").replace(/\s+/g, " ");
  const [room] = parseRooms(oneLine);
  expect(room && renderRoom(room)).toBe(shed);
});

test("things inside a container are told apart", () => {
  const [room] = parseRooms(shed);
  const box = room?.things.find(({ phrase }) => phrase === "a box");
  expect(box?.contents?.things.map(({ phrase, status }) => [phrase, status])).toEqual([
    ["a lamp", "off"],
    ["a pot", undefined],
  ]);
});

test("things and rooms may have the names of built-in object properties", () => {
  const [room] = parseRooms("This room is called the __proto__. In it, you see: a constructor a __proto__");
  expect(room?.name).toBe("__proto__");
  expect(room?.things.map(({ names }) => names[0])).toEqual(["constructor", "__proto__"]);
});

test("endless nesting does not exhaust the stack", () => {
  const [room] = parseRooms(
    `This room is called the pit. In it, you see: ${"a box (containing ".repeat(50_000)}`,
  );
  expect(room?.things).toHaveLength(1);
});
