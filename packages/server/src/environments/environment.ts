import type { EnvironmentConfig, EnvironmentTool, TaskLine, TaskSplitName } from "@presage/contract";
import { z } from "zod";
import type { Micros } from "../platform/storage/columns.ts";
import type { Asked } from "../worlds/world.ts";

/** A task without the split that it is in. */
export type Task = Omit<TaskLine, "split">;

export interface IndexedTask {
  index: number;
  task: Task;
}

const Recorded = z.object({
  trajectory_id: z.string(),
  tags: z.record(z.string(), z.string()).optional().catch(undefined),
});

/** The recorded trajectory that a task was made from, if its metadata names one. */
export function recordedOf({ metadata }: Task): Asked["recorded"] {
  const { data } = Recorded.safeParse(metadata);
  return data && { trajectoryId: data.trajectory_id, tags: data.tags ?? {} };
}

export type TaskCounts = Partial<Record<TaskSplitName, number>>;

export interface EnvironmentRevision {
  id: string;
  name: string;
  revision: number;
  config: EnvironmentConfig;
  tasks: TaskCounts;
  /** Null if it is built in. */
  created_at: Micros | null;
  revised_at: Micros | null;
}

/** Defaults of an environment's settings. */
export const environmentDefaults = { maxSteps: 30, promptForm: "state-action" } as const;

const defaultTool: EnvironmentTool = {
  name: "act",
  description: "Does something in the environment. Returns what is seen after it.",
  argument: "action",
};

/** The tool that agents act with. */
export function toolOf({ tool }: Pick<EnvironmentConfig, "tool">): EnvironmentTool {
  return tool ?? defaultTool;
}

export const sandboxName = "sandbox";

interface Place {
  map: string;
  start: string;
}

/** A place as the sandbox's rules read it: two rooms with an open door between them. */
function placeOf({ room, beyond }: Record<"room" | "beyond", { name: string; things: string }>): Place {
  const describe = (one: typeof room, other: typeof room) =>
    `This room is called the ${one.name}. In it, you see: ${one.things} You also see: A door to the ${other.name} (that is open)`;
  const start = describe(room, beyond);
  const map = [
    `[${room.name}]\n${start}`,
    `[${beyond.name}]\n${describe(beyond, room)}`,
    `[ROOM CONNECTIONS]\n- ${room.name} connects to: ${beyond.name}\n- ${beyond.name} connects to: ${room.name}`,
  ].join("\n\n");
  return { map, start };
}

const workshop = placeOf({
  room: {
    name: "workshop",
    things:
      "a bench. On the bench is: a hammer, a jar (containing a nail, a screw). a lantern, which is deactivated. a chest. The chest door is closed.",
  },
  beyond: { name: "yard", things: "a kite a rope a shed. The shed door is closed." },
});
const kitchen = placeOf({
  room: {
    name: "kitchen",
    things:
      "a table. On the table is: an apple, a bowl (containing nothing). a stove, which is deactivated. a cupboard. The cupboard door is closed.",
  },
  beyond: {
    name: "pantry",
    things: "a broom a lamp, which is deactivated. a crate. The crate door is closed.",
  },
});

type Goal = readonly [place: Place, prompt: string, goal: string];

/** A goal is the world's response to the last action of a solution. */
const goals: Partial<Record<TaskSplitName, readonly Goal[]>> = {
  train: [
    [workshop, "Turn on the lantern.", "The lantern is now activated."],
    [workshop, "Open the chest.", "The chest is now open."],
    [workshop, "Take the hammer.", "You move the hammer to the inventory."],
    [workshop, "Put the hammer in the jar.", "You move the hammer to the jar."],
    [workshop, "Go to the yard.", "You move to the yard."],
    [workshop, "Bring the kite.", "You move the kite to the inventory."],
    [workshop, "Focus on the rope in the yard.", "You focus on the rope."],
    [workshop, "Open the shed in the yard.", "The shed is now open."],
    [kitchen, "Turn on the stove.", "The stove is now activated."],
    [kitchen, "Open the cupboard.", "The cupboard is now open."],
    [kitchen, "Take the apple.", "You move the apple to the inventory."],
    [kitchen, "Put the apple in the bowl.", "You move the apple to the bowl."],
    [kitchen, "Go to the pantry.", "You move to the pantry."],
    [kitchen, "Bring the broom.", "You move the broom to the inventory."],
    [kitchen, "Turn on the lamp in the pantry.", "The lamp is now activated."],
    [kitchen, "Open the crate in the pantry.", "The crate is now open."],
  ],
  test: [
    [workshop, "Focus on the lantern.", "You focus on the lantern."],
    [workshop, "Bring the rope.", "You move the rope to the inventory."],
    [kitchen, "Eat the apple.", "The apple was delicious."],
    [kitchen, "Focus on the broom in the pantry.", "You focus on the broom."],
  ],
};

/** The built-in environment of every account, which works without a model. */
export const sandboxEnvironment: EnvironmentRevision = {
  id: sandboxName,
  name: sandboxName,
  revision: 1,
  config: {
    description:
      "Rooms of the built-in sandbox, played by the default deployment. An episode succeeds when the world says what the task asks for.",
    // The sandbox has no memory: the conversation says what happened.
    prompt_form: "chat",
    stop: [{ output_contains: "{goal}", outcome: "success" }],
    max_steps: 20,
    guards: { repeat_limit: 5 },
  },
  tasks: { train: goals.train?.length ?? 0, test: goals.test?.length ?? 0 },
  created_at: null,
  revised_at: null,
};

export function sandboxTasks(split: TaskSplitName): IndexedTask[] {
  return (goals[split] ?? []).map(([place, prompt, goal], index) => ({
    index,
    task: {
      initial_state: place.start,
      prompt,
      context: { environment_state: place.map, task_context: prompt },
      goal,
    },
  }));
}
