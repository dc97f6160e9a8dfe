import type { BuiltInTaxonomy } from "./built-in-taxonomy.ts";

export const worldModelErrors: BuiltInTaxonomy = {
  name: "system:world-model-errors",
  description:
    "What goes wrong when a model predicts the next state of an environment from a state and an action.",
  body: {
    categories: [
      {
        name: "persistence",
        description: "What the action does not touch did not stay as it was.",
        errors: [
          {
            name: "hallucinated object",
            description: "Something is there that neither state nor action accounts for.",
          },
          { name: "lost object", description: "Something that was there is gone without a cause." },
          {
            name: "lost persistent fact",
            description: "A property, relation or open task of the state was dropped.",
          },
          {
            name: "changed without cause",
            description: "Something untouched by the action is now different.",
          },
          { name: "wrong identity", description: "One thing, person or id was taken for another." },
        ],
      },
      {
        name: "effects",
        description: "What the action brings about is wrong.",
        errors: [
          { name: "effect missing", description: "A change that the action must cause is not there." },
          { name: "wrong effect", description: "The action causes another change than it should." },
          {
            name: "side effect invented",
            description: "Beside its real effect, the action causes one that it cannot.",
          },
          {
            name: "wrong target",
            description: "The effect falls on something that the action did not mean.",
          },
          {
            name: "state copied unchanged",
            description: "The old state is given back although the action changes it.",
          },
          {
            name: "later step anticipated",
            description: "Results are told that only a further action would bring.",
          },
        ],
      },
      {
        name: "rules of the world",
        description: "The environment does not work like that.",
        errors: [
          {
            name: "ignored precondition",
            description: "The action succeeds although something that it needs is missing.",
          },
          {
            name: "refused without reason",
            description: "The action fails although all that it needs is given.",
          },
          {
            name: "physically impossible",
            description: "The result breaks laws of space, matter, time or cause.",
          },
          {
            name: "tool rule broken",
            description: "A tool, program or interface answers as its definition rules out.",
          },
          {
            name: "wrong error",
            description: "The action rightly fails, but with a wrong reason or message.",
          },
        ],
      },
      {
        name: "values",
        description: "Figures and texts are wrong in detail.",
        errors: [
          { name: "wrong count", description: "There are more or fewer of something than there must be." },
          { name: "wrong number", description: "A measure, price, date or other figure is wrong." },
          {
            name: "wrong text",
            description: "A name, a message or other literal text is not reproduced faithfully.",
          },
          { name: "wrong place", description: "Something is where it cannot be, or in the wrong order." },
        ],
      },
      {
        name: "consistency",
        description: "The prediction does not agree with itself.",
        errors: [
          { name: "contradiction", description: "Two statements of the prediction cannot both hold." },
          {
            name: "stale summary",
            description: "A total, a list or a status does not follow the parts that changed.",
          },
        ],
      },
      {
        name: "form",
        description: "The prediction is not in the form of a state.",
        errors: [
          {
            name: "wrong format",
            description: "The structure, the markup or the fields differ from the environment's.",
          },
          {
            name: "leaked reasoning",
            description: "Thoughts, comments or explanations of the model stand in the state.",
          },
          {
            name: "out of role",
            description: "It advises, refuses or acts on its own instead of predicting.",
          },
          { name: "incomplete", description: "It breaks off or leaves out what the environment would show." },
        ],
      },
    ],
  },
};
