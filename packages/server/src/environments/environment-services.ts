import type { Context } from "@presage/contract";
import type { FairSlots } from "../platform/limits/turns.ts";
import type { Requester, Store } from "../platform/storage/store.ts";
import type { KnownEpisodes } from "./episodes/episode.ts";
import type { NewEpisodeRow } from "./episodes/episodes-store.ts";
import type { ReadProgress } from "./episodes/figures.ts";
import type { NewStep } from "./episodes/new-steps-store.ts";
import type { OrsServices } from "./ors/ors-services.ts";

/** What an evaluator sees of a step. */
export interface JudgedStep {
  accountId: string;
  /** That the episode was started with; calls to a model are counted for it. */
  keyId: string | undefined;
  evaluator: string;
  profileName: string | undefined;
  /** The state and the action. */
  input: string;
  observation: string;
  goal: string | undefined;
  /** Found again by these tags. */
  tags: Readonly<Record<string, string>>;
}

/** The score, or why there is none. */
export type RewardOutcome = { reward: number } | { error: string };

/** A trajectory's first state. */
export interface FirstState {
  trajectoryId: string;
  state: string;
  context: Context | undefined;
}

/** What operations on environments and episodes need. */
export interface EnvironmentServices {
  readonly store: Store;
  readonly knownEpisodes: KnownEpisodes;
  readonly ors: OrsServices;
  /** Whose turn it is to start an episode. */
  readonly startTurns: FairSlots;
  readonly readProgress: ReadProgress;
  /** Stores an episode at its start, many together. Says whether this one was stored. */
  writeStart(start: NewEpisodeRow): Promise<boolean>;
  /** Stores steps, those of many episodes together. Says whether this one was stored. */
  writeStep(step: NewStep): Promise<boolean>;
  hasDeployment(name: string): boolean;
  /** Why a pattern cannot be used; undefined: it can. */
  findPatternIssue(pattern: string): string | undefined;
  /** Whether a part of a text matches a pattern. Takes linear time, in a thread if that is long. */
  matches(requester: Requester, pattern: string, text: string): Promise<boolean>;
  /** Why an account cannot use an evaluator; undefined: it can. */
  findEvaluatorIssue(
    accountId: string,
    wanted: { evaluator: string; profileName: string | undefined },
  ): Promise<{ field: "evaluator" | "profile_name"; message: string } | undefined>;
  judge(step: JudgedStep, signal: AbortSignal): Promise<RewardOutcome>;
  /** The first states of a dataset's trajectories. */
  readFirstStates(
    requester: Requester,
    dataset: { id: string; revision: number | undefined },
  ): AsyncIterable<FirstState[]>;
}
