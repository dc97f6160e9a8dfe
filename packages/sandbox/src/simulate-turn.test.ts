import { describe, expect, test } from "bun:test";
import { readPrompt } from "./simulate-turn.ts";
import { ask, pantryState } from "./test-world.ts";

/** The observation for an agent that has just entered the pantry. */
const inPantry = (action: string) => ask({ state: pantryState, action });

const refusal = "No known action matches that input.";

describe("looking", () => {
  test("a room, which is a single line on the map, is shown as a list that includes the agent", () => {
    expect(inPantry("look around")).toBe(
      [
        "This room is called the pantry. In it, you see: ",
        "\tthe agent",
        "\ta bench. On the bench is: a jar (containing a fig, a plum), a mug (containing nothing).",
        "\ta chest. The chest door is closed. ",
        "\ta kettle, which is turned off. In the kettle is: nothing.",
        "\ta lantern, which is deactivated. ",
        "\tthe mat",
        "\ta thermometer, currently reading a temperature of 14 degrees celsius",
        "\ta tin cup (containing green paint)",
        "\ta tin cup (containing white paint)",
        "You also see:",
        "\tA door to the cellar (that is open)",
        "\tA door to the loft (that is closed)",
      ].join("\n"),
    );
  });

  test("into, at and on things", () => {
    expect(inPantry("look in jar")).toBe("Inside the jar is: \n\ta fig\n\ta plum");
    expect(inPantry("look in chest")).toBe("The chest isn't open, so you can't see inside.");
    expect(inPantry("examine lantern")).toBe("a lantern, which is deactivated.");
  });
});

describe("going", () => {
  test("the agent can teleport to any existing room", () => {
    expect(inPantry("teleport to loft")).toBe("You teleport to the loft.");
    expect(inPantry("Teleport to Loft")).toBe("You teleport to the loft.");
    expect(inPantry("go to Cellar")).toBe("You move to the cellar.");
    expect(inPantry("teleport to moon")).toBe(refusal);
  });

  test("the agent can walk to an adjacent room, but not through a closed door", () => {
    expect(inPantry("go to cellar")).toBe("You move to the cellar.");
    expect(inPantry("go to loft")).toBe(refusal);
  });

  test("the agent cannot walk to a room that is not adjacent", () => {
    expect(ask({ state: "You teleport to the cellar.", action: "go to loft" })).toBe(refusal);
  });
});

describe("handling", () => {
  test("things in the room can be picked up, but not fixtures or things elsewhere", () => {
    expect(inPantry("pick up mug")).toBe("You move the mug to the inventory.");
    expect(inPantry("take kite")).toBe(refusal);
    expect(inPantry("take bench")).toBe("The bench is not moveable.");
  });

  test("the agent may be holding a thing from another room, but not a thing from nowhere", () => {
    expect(inPantry("put kite in mug")).toBe("You move the kite to the mug.");
    expect(inPantry("put sword in mug")).toBe(refusal);
  });

  test("nothing can be put into itself or into a closed thing", () => {
    expect(inPantry("put mug in mug")).toBe("You can't move something into itself.");
    expect(inPantry("put mug in chest")).toBe("That can't be moved there, because the chest isn't open.");
  });

  test("cups are distinguished by their contents", () => {
    expect(inPantry("take tin cup containing white paint")).toBe("You move the tin cup to the inventory.");
  });

  test("an ambiguous name raises a question, which a number answers", () => {
    const question = inPantry("pour tin cup in mug");
    expect(question).toBe(
      [
        "Ambiguous request: Please enter the number for the action you intended (or blank to cancel):",
        "0:\tpour tin cup (in pantry) in mug (in bench, in pantry)",
        "1:\tpour tin cup (in pantry) in mug (in bench, in pantry)",
        "",
      ].join("\n"),
    );
    expect(ask({ state: question, action: "1" })).toBe("You pour the contents of the tin cup into the mug.");
    expect(ask({ state: question, action: "2" })).toBe(refusal);

    const asked = [question, question.replaceAll("tin cup", "jar")].join("\n");
    expect(ask({ state: asked, action: "0" })).toBe("You pour the contents of the jar into the mug.");
  });
});

describe("doors and devices", () => {
  test("a door opens once", () => {
    expect(inPantry("open chest")).toBe("The chest is now open.");
    expect(ask({ state: "The chest is now open.", action: "open chest" })).toBe("The chest is already open.");
    expect(inPantry("open kettle")).toBe("The kettle is not openable.");
  });

  test("devices can be turned on and off with either word", () => {
    expect(inPantry("turn on kettle")).toBe("The kettle is now activated.");
    expect(inPantry("deactivate lantern")).toBe("The lantern is now deactivated.");
    expect(ask({ state: "The lantern is now activated.", action: "activate lantern" })).toBe(
      "The lantern is already activated.",
    );
  });

  test("a thermometer shows the reading from the room", () => {
    expect(inPantry("use thermometer on mug")).toBe(
      "the thermometer measures a temperature of 14 degrees celsius",
    );
    expect(inPantry("use mug on jar")).toBe("I'm not sure how to use the mug.");
  });

  test("terminals are connected by the names of the terminal and the thing", () => {
    const state = "In your inventory, you see:\n\ta battery\n\ta red wire";
    expect(ask({ state, action: "connect battery anode to red wire terminal 2" })).toBe(
      "anode on battery is now connected to terminal 2 on red wire",
    );
  });
});

describe("the rest", () => {
  test("time, task and focus", () => {
    expect(inPantry("wait")).toBe("You decide to wait for 10 iterations.");
    expect(inPantry("wait1")).toBe("You decide to wait for 1 iterations.");
    expect(ask({ state: pantryState, action: "task", task: "Fly the kite." })).toBe("Fly the kite.");
    expect(inPantry("focus on plum")).toBe("You focus on the plum.");
  });

  test("unknown actions are refused, in the world's own wording if it has one", () => {
    const knowledge = 'When action is invalid or object not present: respond "You cannot."';
    expect(inPantry("dance")).toBe(refusal);
    expect(ask({ state: pantryState, action: "dance", knowledge })).toBe("You cannot.");
  });

  test("an action that only the domain knowledge defines follows its rule", () => {
    const knowledge = 'When the agent does "sharpen X with Y": respond "The X is as sharp as the Y allows."';
    expect(ask({ state: pantryState, action: "sharpen old rake with stone", knowledge })).toBe(
      "The old rake is as sharp as the stone allows.",
    );
  });
});

describe("a free-text state without a world", () => {
  const state = "You are in a kitchen. The fridge is closed.";
  const free = (action: string) => ask({ environment: "", state, action });

  test("is used as far as possible", () => {
    expect(free("open fridge")).toBe("You open the fridge.");
    expect(free("Close the fridge.")).toBe("The fridge is already closed.");
    expect(free("put apple in fridge")).toBe("That can't be moved there, because the fridge isn't open.");
    expect(free("take apple")).toBe("You move the apple to the inventory.");
    expect(free("go to garden")).toBe("You move to the garden.");
  });

  test("is all there is to see", () => {
    expect(free("look around")).toBe(state);
  });
});

test("a section extends to the next header, including empty lines", () => {
  const prompt = readPrompt(
    "## ENVIRONMENT STATE\none\n\ntwo\n\n## TASK CONTEXT\nthree\n\n## DOMAIN KNOWLEDGE\nfour",
    "State: here\n\nAction: wait",
  );
  expect(prompt).toEqual({
    environment: "one\n\ntwo",
    task: "three",
    tools: "",
    knowledge: "four",
    state: "here",
    action: "wait",
  });
});

test("the last action is performed, because a state may quote others", () => {
  const { state, action } = readPrompt("", "State: State: x\n\nAction: old\n\nThen\n\nAction: new");
  expect(state).toBe("State: x\n\nAction: old\n\nThen");
  expect(action).toBe("new");
});

test("a turn without labels is an action in an unknown state", () => {
  expect(readPrompt("", "open door")).toMatchObject({ state: "", action: "open door" });
});
