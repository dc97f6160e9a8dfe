import { expect, test } from "bun:test";
import { routingKeyOf } from "./replicas.ts";

const system = { role: "system", content: "You simulate a kitchen." };
const user = (content: string) => ({ role: "user", content });
const assistant = { role: "assistant", content: "The door is open." };
const keyOf = (...messages: { role: string; content: string }[]) => routingKeyOf({ messages }, undefined);

test("a session's requests have one key, whatever they say", () => {
  const session = { name: "x-session-id", value: "rollout-7" };
  const key = routingKeyOf({ messages: [system, user("a")] }, session);
  expect(routingKeyOf({ messages: [user("b")] }, { ...session, name: "x-smg-routing-key" })).toBe(key);
  expect(routingKeyOf({ messages: [system, user("a")] }, { ...session, value: "rollout-8" })).not.toBe(key);
});

test("predictions with one context have one key, whatever the state and the action", () => {
  expect(keyOf(system, user("open door"))).toBe(keyOf(system, user("close door")));
  expect(keyOf({ ...system, content: "You simulate a shop." }, user("open door"))).not.toBe(
    keyOf(system, user("open door")),
  );
});

test("a growing chat keeps its key, and another task under the same system turn has another", () => {
  const chat = [system, user("task 1"), assistant];
  expect(keyOf(...chat, user("go on"))).toBe(keyOf(...chat));
  expect(keyOf(system, user("task 2"), assistant)).not.toBe(keyOf(...chat));
});

test("a chat without a system turn has the key of its first user turn from the start", () => {
  expect(keyOf(user("task 1"))).toBe(keyOf(user("task 1"), assistant, user("go on")));
  expect(keyOf(user("task 2"))).not.toBe(keyOf(user("task 1")));
});

test("a world's predictions have the key of what they are told to have in common", () => {
  const through = (example: string, session?: { name: string; value: string }) =>
    routingKeyOf({ messages: [system, user(example), assistant, user("go on")] }, session, () => "a shop");
  expect(through("take lamp")).toBe(through("take cup"));
  const session = { name: "x-session-id", value: "rollout-7" };
  expect(through("take lamp", session)).toBe(routingKeyOf({ messages: [system] }, session));
});
