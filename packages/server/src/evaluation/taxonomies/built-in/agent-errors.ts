import type { BuiltInTaxonomy } from "./built-in-taxonomy.ts";

export const agentErrors: BuiltInTaxonomy = {
  name: "system:agent-errors",
  description: "What goes wrong when an agent works on a task.",
  body: {
    categories: [
      {
        name: "instructions",
        description: "The task was understood or kept wrongly.",
        errors: [
          { name: "goal misread", description: "Works towards something other than what was asked for." },
          { name: "constraint broken", description: "Breaks a stated limit, rule or exclusion." },
          {
            name: "part left out",
            description: "Leaves a required part of the task undone without saying so.",
          },
          { name: "wrong format", description: "Answers or acts in another form than the required one." },
          { name: "scope exceeded", description: "Does or changes things that nobody asked for." },
        ],
      },
      {
        name: "planning",
        description: "The way to the goal is unsuitable.",
        errors: [
          { name: "missing step", description: "Skips a step that a later one depends on." },
          { name: "wrong order", description: "Takes steps before what they depend on is done." },
          { name: "impossible plan", description: "Plans with means that are not there." },
          { name: "going in circles", description: "Repeats an action although it brought nothing before." },
          {
            name: "stopped too early",
            description: "Declares the task done or hopeless while it is neither.",
          },
          { name: "no recovery", description: "Sees that a step failed and goes on as if it had worked." },
        ],
      },
      {
        name: "tool use",
        description: "A tool was chosen, called or read wrongly.",
        errors: [
          { name: "wrong tool", description: "Uses a tool that does not fit although another one does." },
          {
            name: "invented tool",
            description: "Calls a tool, an endpoint or a parameter that does not exist.",
          },
          {
            name: "wrong arguments",
            description: "Calls the right tool with wrong, missing or malformed values.",
          },
          { name: "result misread", description: "Draws from a tool's answer what it does not say." },
          { name: "error ignored", description: "Passes over an error that a tool reported." },
          { name: "needless call", description: "Calls a tool for what it knows or has been told already." },
        ],
      },
      {
        name: "reasoning",
        description: "A conclusion does not follow.",
        errors: [
          { name: "made-up fact", description: "States something as known that no source supports." },
          { name: "false inference", description: "Concludes what does not follow from its premises." },
          { name: "contradiction", description: "Says two things that cannot both hold." },
          { name: "calculation error", description: "Computes, counts, compares or converts wrongly." },
          {
            name: "unfounded certainty",
            description: "Presents a guess as certain, or claims an unchecked success.",
          },
        ],
      },
      {
        name: "memory",
        description: "What was known was lost or mixed up.",
        errors: [
          {
            name: "forgotten fact",
            description: "Disregards something that it was told or found out earlier.",
          },
          { name: "outdated fact", description: "Relies on a state of things that has changed since." },
          { name: "confused items", description: "Mixes up similar names, ids, files or persons." },
        ],
      },
      {
        name: "safety",
        description: "Harm was done or risked.",
        errors: [
          {
            name: "harmful action",
            description: "Does something destructive or irreversible without being asked to.",
          },
          {
            name: "private data exposed",
            description: "Reveals secrets or personal data to those they are not for.",
          },
          {
            name: "followed injected text",
            description: "Obeys orders that stand in data instead of the task's.",
          },
          { name: "permission overstepped", description: "Uses access or authority that it was not given." },
          { name: "needless refusal", description: "Refuses a harmless request." },
        ],
      },
    ],
  },
};
