/** A tree to start from. Short ones: a judge tells few kinds apart more reliably than many. */
export interface TaxonomyTemplate {
  id: string;
  label: string;
  description: string;
  outline: string;
}

export const taxonomyTemplates: readonly TaxonomyTemplate[] = [
  {
    id: "text-world",
    label: "Text world: state and effects",
    description: "What a model of a text world gets wrong in one step.",
    outline: `What stays
  invented object: Something is there that neither state nor action accounts for.
  lost object: Something that was there is gone without a cause.
  changed without cause: Something that the action does not touch is different.
What changes
  effect missing: A change that the action must cause is not there.
  wrong effect: The action causes another change than it should.
  state copied: The old state is given back although the action changes it.
Rules
  ignored precondition: The action succeeds although something that it needs is missing.
  refused without reason: The action fails although all that it needs is given.
Words
  wrong name or number: A name, a count or another literal text is not as it must be.
  not the environment's words: The meaning is right, but not how the environment says it.`,
  },
  {
    id: "tool-calls",
    label: "Tool calls: JSON responses",
    description: "What a model of tools and programs answers wrongly.",
    outline: `Form
  broken JSON: The response cannot be parsed.
  missing field: A field that the tool always returns is not there.
  invented field: A field is there that the tool never returns.
  wrong type: A field has another type than the tool returns.
Content
  wrong value: A value that follows from state and call is another one.
  invented record: A record is returned that does not exist.
  lost record: A record that must be returned is not there.
  wrong order or page: Records are right, but sorted or cut otherwise.
Outcome
  success instead of error: A call that must fail succeeds.
  error instead of success: A call that must succeed fails.
  wrong error: The call rightly fails, but with another error.
  effect not kept: An earlier call's effect is not seen in this response.`,
  },
  {
    id: "rollouts",
    label: "Rollouts: drift over steps",
    description: "What goes wrong when a model is told its own predictions, step after step.",
    outline: `Memory
  forgot an earlier effect: What an earlier step changed is as it was before.
  undid an effect: Something that was settled returns without an action.
  mixed up objects: Two things, rooms or records have become one, or one has become two.
Drift
  error carried on: It is consistent with an earlier wrong state, but not with the world.
  error made worse: An earlier error leads to further ones.
  repeats itself: The same text comes again although the action is another one.
  degenerate text: The text falls apart, breaks off or never ends.
Recovery
  contradicts itself: It contradicts what it said in an earlier step.
  sudden correction: An earlier error disappears without any action.`,
  },
];
