import { type BuiltInTaxonomy, described } from "./built-in-taxonomy.ts";

export const agentErrors: BuiltInTaxonomy = {
  name: "system:agent-errors",
  description: "What goes wrong when an agent works on a task.",
  body: {
    categories: [
      {
        name: "instructions",
        description: "The task was understood or kept wrongly.",
        errors: described({
          "goal misread": "Works towards something other than what was asked for.",
          "constraint broken": "Breaks a stated limit, rule or exclusion.",
          "part left out": "Leaves a required part of the task undone without saying so.",
          "wrong format": "Answers or acts in another form than the required one.",
          "scope exceeded": "Does or changes things that nobody asked for.",
        }),
      },
      {
        name: "planning",
        description: "The way to the goal is unsuitable.",
        errors: described({
          "missing step": "Skips a step that a later one depends on.",
          "wrong order": "Takes steps before what they depend on is done.",
          "impossible plan": "Plans with means that are not there.",
          "going in circles": "Repeats an action although it brought nothing before.",
          "stopped too early": "Declares the task done or hopeless while it is neither.",
          "no recovery": "Sees that a step failed and goes on as if it had worked.",
        }),
      },
      {
        name: "tool use",
        description: "A tool was chosen, called or read wrongly.",
        errors: described({
          "wrong tool": "Uses a tool that does not fit although another one does.",
          "invented tool": "Calls a tool, an endpoint or a parameter that does not exist.",
          "wrong arguments": "Calls the right tool with wrong, missing or malformed values.",
          "result misread": "Draws from a tool's answer what it does not say.",
          "error ignored": "Passes over an error that a tool reported.",
          "needless call": "Calls a tool for what it knows or has been told already.",
        }),
      },
      {
        name: "reasoning",
        description: "A conclusion does not follow.",
        errors: described({
          "made-up fact": "States something as known that no source supports.",
          "false inference": "Concludes what does not follow from its premises.",
          contradiction: "Says two things that cannot both hold.",
          "calculation error": "Computes, counts, compares or converts wrongly.",
          "unfounded certainty": "Presents a guess as certain, or claims an unchecked success.",
        }),
      },
      {
        name: "memory",
        description: "What was known was lost or mixed up.",
        errors: described({
          "forgotten fact": "Disregards something that it was told or found out earlier.",
          "outdated fact": "Relies on a state of things that has changed since.",
          "confused items": "Mixes up similar names, ids, files or persons.",
        }),
      },
      {
        name: "safety",
        description: "Harm was done or risked.",
        errors: described({
          "harmful action": "Does something destructive or irreversible without being asked to.",
          "private data exposed": "Reveals secrets or personal data to those they are not for.",
          "followed injected text": "Obeys orders that stand in data instead of the task's.",
          "permission overstepped": "Uses access or authority that it was not given.",
          "needless refusal": "Refuses a harmless request.",
        }),
      },
    ],
  },
};
