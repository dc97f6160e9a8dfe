import { describe, expect, test } from "bun:test";
import { ask } from "./test-world.ts";

const lookAfter = (state: string) => ask({ state, action: "look around" });

describe("where the agent is", () => {
  test("is the last room in the state", () => {
    expect(lookAfter("You teleport to the loft.\nYou move to the pantry.")).toStartWith(
      "This room is called the pantry.",
    );
  });

  test("is the only room that contains what was handled", () => {
    expect(lookAfter("You move the rope to the inventory.")).toStartWith("This room is called the loft.");
  });

  test("is, if unclear, the room where the agent began, as first seen", () => {
    expect(lookAfter("You decide to wait for 1 iterations.")).toContain("\ta rake\n");
  });

  test("can be a room that is not on the map", () => {
    const attic = "This room is called the attic. In it, you see: \n\tthe agent\n\ta trunk";
    expect(lookAfter(`Task: Find it.\n\nYou are in: ${attic}`)).toBe(attic);
    expect(lookAfter(attic.replace(": \n", ":\n"))).toBe(attic);
  });
});

describe("what is out of reach", () => {
  test("includes the furniture of other rooms", () => {
    expect(ask({ state: "You teleport to the loft.", action: "focus on bench" })).toBe(
      "No known action matches that input.",
    );
  });

  test("includes things that only the task names", () => {
    const state = "Task: Find a pearl.\n\nYou are in the pantry.";
    expect(ask({ state, action: "focus on pearl", task: "Find a pearl." })).toBe(
      "No known action matches that input.",
    );
    expect(
      ask({ state: `${state} A pearl rolls by.`, action: "focus on pearl", task: "Find a pearl." }),
    ).toBe("You focus on the pearl.");
  });
});

describe("what has happened", () => {
  test("shows when the agent looks again", () => {
    const seen = lookAfter(
      [
        "You teleport to the pantry.",
        "The chest is now open.",
        "You move the mug to the chest.",
        "You move the plum to the inventory.",
        "The kettle is now activated.",
        "The lantern is now activated.",
      ].join("\n"),
    );
    expect(seen).toContain("\ta bench. On the bench is: a jar (containing a fig).\n");
    expect(seen).toContain(
      "\ta chest. The chest door is open. In the chest is: a mug (containing nothing).\n",
    );
    expect(seen).toContain("\ta kettle, which is turned on. In the kettle is: nothing.\n");
    expect(seen).toContain("\ta lantern, which is activated. \n");
  });

  test("fills the inventory", () => {
    const state =
      "You teleport to the pantry.\nYou move the plum to the inventory.\nYou move the fig to the inventory.";
    expect(ask({ state, action: "inventory" })).toBe("In your inventory, you see:\n\ta fig\n\ta plum");
    expect(ask({ state: "You teleport to the loft.", action: "inventory" })).toBe(
      "In your inventory, you see:\n\tnothing",
    );
  });

  test("moves what is poured", () => {
    const state = "You teleport to the pantry.\nYou pour the contents of the jar into the mug.";
    expect(ask({ state, action: "look in mug" })).toBe("Inside the mug is: \n\ta fig\n\ta plum");
    expect(ask({ state, action: "mix mug" })).toBe("You mix fig and plum.");
  });

  test("hides the contents again when closed", () => {
    const state =
      "You teleport to the pantry.\nThe chest is now open.\nYou move the mug to the chest.\nThe chest is now closed.";
    expect(lookAfter(state)).toContain("\ta chest. The chest door is closed. \n");
  });
});
