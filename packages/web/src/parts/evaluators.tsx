import type { EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { clsx } from "clsx";
import { useState } from "react";
import { plainName } from "../format/words.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";

export interface EvaluatorChoice {
  /** The profile’s public id. */
  id: string;
  family: string;
  profile: string;
  description: string;
  needsGoldAnswer: boolean;
  /** Why the evaluator cannot be used on this response. */
  obstacle: string | undefined;
}

interface FamilyChoices {
  family: string;
  description: string;
  usesModel: boolean;
  /** The family uses a model, and none is configured. */
  needsModel: boolean;
  choices: EvaluatorChoice[];
}

export function evaluatorChoices(
  families: readonly EvaluatorFamily[],
  profiles: readonly EvaluatorProfile[],
  { hasSystemTurn }: { hasSystemTurn: boolean },
): FamilyChoices[] {
  return families
    .map((family) => ({
      family: family.family_name,
      description: family.description,
      usesModel: family.uses_model,
      needsModel: family.needs_model,
      choices: profiles
        .filter(({ evaluator_family }) => evaluator_family === family.family_name)
        .map((profile) => choiceOf(family, profile, hasSystemTurn)),
    }))
    .filter(({ choices }) => choices.length > 0);
}

function choiceOf(
  { family_name, required_input_fields, needs_model }: EvaluatorFamily,
  { public_id, name, config, description }: EvaluatorProfile,
  hasSystemTurn: boolean,
): EvaluatorChoice {
  const ownNeeds: unknown[] = Array.isArray(config.required_fields) ? config.required_fields : [];
  const needs = new Set([...required_input_fields, ...ownNeeds]);
  return {
    id: public_id,
    family: family_name,
    profile: name,
    description: description ?? "",
    needsGoldAnswer: needs.has("evaluated_model_gold_answer"),
    obstacle: needs_model ? "needs a model" : obstacleOf(needs, hasSystemTurn),
  };
}

function obstacleOf(needs: ReadonlySet<unknown>, hasSystemTurn: boolean): string | undefined {
  if (needs.has("evaluated_model_retrieved_context")) return "needs retrieved context";
  if (needs.has("evaluated_model_system_prompt") && !hasSystemTurn) return "needs a system turn";
  return undefined;
}

interface EvaluatorPickerProps {
  groups: readonly FamilyChoices[];
  chosenIds: ReadonlySet<string>;
  onChoose(ids: ReadonlySet<string>): void;
}

/** The families that most people start with; others are shown on demand. */
const common: readonly string[] = ["exact-match", "state-change", "rouge-l"];

/** The server's limit per request. */
const maxEvaluators = 20;

export function EvaluatorPicker({ groups, chosenIds, onChoose }: EvaluatorPickerProps) {
  const [showsAll, setShowsAll] = useState(false);
  const isFull = chosenIds.size >= maxEvaluators;
  const shown = groups.filter(
    ({ family, choices }) =>
      showsAll || common.includes(family) || choices.some(({ id }) => chosenIds.has(id)),
  );

  function toggle(id: string) {
    const next = new Set(chosenIds);
    if (!next.delete(id)) next.add(id);
    onChoose(next);
  }

  return (
    <div className="@container max-h-[45dvh] overflow-y-auto scroll-edges-y rounded-md border border-line">
      {shown.map(({ family, description, usesModel, needsModel, choices }) => (
        <fieldset
          key={family}
          className="grid min-w-0 items-start gap-x-3 gap-y-1 border-b border-line px-3 py-1.5 last:border-b-0 @lg:grid-cols-[8.5rem_minmax(0,1fr)]"
        >
          <legend className="float-left contents">
            <span className="flex min-h-7 flex-wrap items-center gap-x-2 @lg:flex-col @lg:items-start @lg:justify-center">
              <span className="truncate text-sm font-medium">{family}</span>
              {needsModel && <Badge>Needs a model</Badge>}
              {usesModel && !needsModel && <span className="text-xs text-ink-3">uses a model</span>}
              {!needsModel && needsOf(choices) && (
                <span className="text-xs text-ink-3">{needsOf(choices)}</span>
              )}
            </span>
          </legend>
          <div className="flex flex-wrap items-center gap-1.5">
            {choices.map((choice) => (
              <Chip
                key={choice.id}
                choice={choice}
                // The family states it once for all its profiles.
                showsNote={!needsModel && needsOf(choices) === undefined}
                isChosen={chosenIds.has(choice.id)}
                isFull={isFull}
                onToggle={() => toggle(choice.id)}
              />
            ))}
            <span className="min-w-0 basis-full text-xs text-ink-3">{description}</span>
          </div>
        </fieldset>
      ))}
      {shown.length < groups.length && (
        <div className="px-1.5 py-1">
          <Button variant="quiet" size="small" onClick={() => setShowsAll(true)}>
            Show {groups.length - shown.length} more
          </Button>
        </div>
      )}
    </div>
  );
}

function noteOf({ needsGoldAnswer, obstacle }: EvaluatorChoice): string | undefined {
  return obstacle ?? (needsGoldAnswer ? "needs a gold answer" : undefined);
}

/** A need that all profiles of a family share. */
function needsOf(choices: readonly EvaluatorChoice[]): string | undefined {
  const [first, ...others] = choices.map(noteOf);
  return others.every((note) => note === first) ? first : undefined;
}

interface ChipProps {
  choice: EvaluatorChoice;
  showsNote: boolean;
  isChosen: boolean;
  isFull: boolean;
  onToggle(): void;
}

function Chip({ choice, showsNote, isChosen, isFull, onToggle }: ChipProps) {
  const { profile, description, obstacle } = choice;
  const isOff = obstacle !== undefined || (isFull && !isChosen);
  const note = noteOf(choice);
  return (
    <label
      title={[description, note && `${note[0]?.toUpperCase()}${note.slice(1)}.`].filter(Boolean).join(" ")}
      className={clsx(
        "inline-flex min-h-7 max-w-full flex-wrap items-center gap-x-1.5 rounded-md border px-2 text-xs",
        isOff ? "cursor-not-allowed text-ink-3" : "cursor-pointer hover:bg-hover",
        isChosen && !isOff ? "border-accent bg-accent-soft text-accent-ink" : "border-line",
      )}
    >
      <input
        type="checkbox"
        checked={isChosen && !isOff}
        disabled={isOff}
        onChange={onToggle}
        className="size-3.5 shrink-0 accent-accent"
      />
      <span className="min-w-0 wrap-anywhere">{plainName(profile)}</span>
      {showsNote && note !== undefined && <span className="text-ink-3">{note}</span>}
    </label>
  );
}
