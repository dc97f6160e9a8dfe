import { type BuiltInTaxonomy, described } from "./built-in-taxonomy.ts";

export const worldModelErrors: BuiltInTaxonomy = {
  name: "system:world-model-errors",
  description:
    "What goes wrong when a model predicts the next state of an environment from a state and an action.",
  body: {
    categories: [
      {
        name: "persistence",
        description: "What the action does not touch did not stay as it was.",
        errors: described({
          "hallucinated object": "Something is there that neither state nor action accounts for.",
          "lost object": "Something that was there is gone without a cause.",
          "lost persistent fact": "A property, relation or open task of the state was dropped.",
          "changed without cause": "Something untouched by the action is now different.",
          "wrong identity": "One thing, person or id was taken for another.",
        }),
      },
      {
        name: "effects",
        description: "What the action brings about is wrong.",
        errors: described({
          "effect missing": "A change that the action must cause is not there.",
          "wrong effect": "The action causes another change than it should.",
          "side effect invented": "Beside its real effect, the action causes one that it cannot.",
          "wrong target": "The effect falls on something that the action did not mean.",
          "state copied unchanged": "The old state is given back although the action changes it.",
          "later step anticipated": "Results are told that only a further action would bring.",
        }),
      },
      {
        name: "rules of the world",
        description: "The environment does not work like that.",
        errors: described({
          "ignored precondition": "The action succeeds although something that it needs is missing.",
          "refused without reason": "The action fails although all that it needs is given.",
          "physically impossible": "The result breaks laws of space, matter, time or cause.",
          "tool rule broken": "A tool, program or interface answers as its definition rules out.",
          "wrong error": "The action rightly fails, but with a wrong reason or message.",
        }),
      },
      {
        name: "values",
        description: "Figures and texts are wrong in detail.",
        errors: described({
          "wrong count": "There are more or fewer of something than there must be.",
          "wrong number": "A measure, price, date or other figure is wrong.",
          "wrong text": "A name, a message or other literal text is not reproduced faithfully.",
          "wrong place": "Something is where it cannot be, or in the wrong order.",
        }),
      },
      {
        name: "consistency",
        description: "The prediction does not agree with itself.",
        errors: described({
          contradiction: "Two statements of the prediction cannot both hold.",
          "stale summary": "A total, a list or a status does not follow the parts that changed.",
        }),
      },
      {
        name: "form",
        description: "The prediction is not in the form of a state.",
        errors: described({
          "wrong format": "The structure, the markup or the fields differ from the environment's.",
          "leaked reasoning": "Thoughts, comments or explanations of the model stand in the state.",
          "out of role": "It advises, refuses or acts on its own instead of predicting.",
          incomplete: "It breaks off or leaves out what the environment would show.",
        }),
      },
    ],
  },
};
