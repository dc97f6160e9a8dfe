import { type Draft, emptyDraft } from "../../parts/playground-draft.ts";

interface Example {
  name: string;
  hint: string;
  /** Set if the sandbox, which simulates a text world, cannot respond to the example. */
  needsModel: boolean;
  draft: Draft;
}

const kitchen = `[STARTING STATE]
This room is called the kitchen. In it, you see:
	the agent
	a fridge. The fridge door is closed.
	a kettle, which is turned off. In the kettle is: nothing.
	a table. On the table is: a teapot (containing nothing), a blue cup (containing nothing).
	a sink, which is turned off. In the sink is: nothing.
You also see:
	A door to the veranda (that is closed)

[COMPLETE ROOM MAP]
[kitchen]
This room is called the kitchen. In it, you see: a fridge. The fridge door is closed. a kettle, which is turned off. In the kettle is: nothing. a table. On the table is: a teapot (containing nothing), a blue cup (containing nothing). a sink, which is turned off. In the sink is: nothing. You also see: A door to the veranda (that is closed)

[veranda]
This room is called the veranda. In it, you see: a hammock a watering can (containing nothing) You also see: A door to the kitchen (that is closed)`;

export const examples: readonly Example[] = [
  {
    name: "A kitchen in words",
    hint: "One step of a text adventure",
    needsModel: false,
    draft: {
      ...emptyDraft,
      context: {
        ...emptyDraft.context,
        environment_state: kitchen,
        task_context: "Your task is to make a cup of tea with milk.",
        domain_knowledge: "The contents of a closed container are not visible until it is opened.",
      },
      state: "You move to the kitchen.",
      action: "open fridge",
      goldAnswer: "The fridge is now open.",
    },
  },
  {
    name: "A table after a change",
    hint: "What an earlier step leaves behind",
    needsModel: false,
    draft: {
      ...emptyDraft,
      context: { ...emptyDraft.context, environment_state: kitchen },
      state: "You move the teapot to the sink.",
      action: "look at table",
      goldAnswer: "a table. On the table is: a blue cup (containing nothing).",
    },
  },
  {
    name: "A tool call",
    hint: "An agent books a meeting room with JSON",
    needsModel: true,
    draft: {
      ...emptyDraft,
      context: {
        ...emptyDraft.context,
        environment_state: JSON.stringify(
          {
            rooms: [
              { id: "birch", seats: 4, booked: ["09:00-10:00"] },
              { id: "cedar", seats: 12, booked: [] },
            ],
          },
          null,
          2,
        ),
        task_context: "Find a room for six people at nine o’clock.",
        tool_schemas: JSON.stringify(
          [
            {
              name: "book_room",
              description: "Books a room that is free.",
              parameters: { id: { type: "string" }, slot: { type: "string" } },
            },
          ],
          null,
          2,
        ),
        steering_directives: "Answer with the tool’s JSON and nothing else.",
      },
      state: "The agent knows both rooms and has booked none.",
      action: '{"name": "book_room", "parameters": {"id": "cedar", "slot": "09:00-10:00"}}',
      params: { ...emptyDraft.params, temperature: "0" },
      goldAnswer: '{"status": "booked", "id": "cedar", "slot": "09:00-10:00"}',
    },
  },
  {
    name: "A shop’s page",
    hint: "A click in a web shop",
    needsModel: true,
    draft: {
      ...emptyDraft,
      context: {
        ...emptyDraft.context,
        environment_state:
          "A small web shop for stationery. Pages: search, list of results, product, basket. The basket is empty.",
        task_context: "Buy one notebook with dotted pages for less than 12 euros.",
        domain_knowledge:
          "Putting a product into the basket leads to the basket’s page. Prices are in euros and include tax.",
        steering_directives: "Describe the page that comes next, one element per line.",
      },
      state:
        "[Product] Notebook, A5, dotted\nPrice: 9.50\nPages: 160\n[Button] Put into basket\n[Link] Back to results",
      action: "click[Put into basket]",
      params: { ...emptyDraft.params, max_tokens: "200" },
      goldAnswer:
        "[Basket]\n1 × Notebook, A5, dotted: 9.50\nTotal: 9.50\n[Button] Go to checkout\n[Link] Continue shopping",
    },
  },
  {
    name: "A terminal",
    hint: "What a command prints",
    needsModel: true,
    draft: {
      ...emptyDraft,
      context: {
        ...emptyDraft.context,
        environment_state: "/home/ada/notes\n  todo.txt (2 lines)\n  old/ (empty)",
        steering_directives: "Answer with the terminal’s output only.",
      },
      state: "$ cat todo.txt\nwater the plants\ncall Bo\n$",
      action: "mv todo.txt old/ && ls",
      goldAnswer: "old",
    },
  },
];
