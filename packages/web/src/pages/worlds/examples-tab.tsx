import type { Run, World, WorldCoverage } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { usePresage } from "../../data/client.ts";
import { referenceOf, worldCoverageQuery } from "../../data/worlds.ts";
import { counted, formatCount, formatShare } from "../../format/numbers.ts";
import { humanizeName, shortEvaluatorNames } from "../../format/words.ts";
import { DatasetLink, ExampleLink } from "../../parts/datasets.tsx";
import { MeasureLink } from "../../parts/runs.tsx";
import { textsOf, worldFacts } from "../../parts/worlds.ts";
import { Fact, Fold } from "../../ui/card.tsx";
import { Awaited } from "../../ui/notice.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../ui/table.tsx";
import { Beginning, InlineText, SampleName } from "../../ui/untrusted-text/inline-text.tsx";
import { RunLink } from "./world-tabs.tsx";

type Examples = NonNullable<World["pinned"]["examples"]>;

interface ExamplesTabProps {
  world: World;
  /** The world's runs, newest first; undefined while not known. */
  runs: readonly Run[] | undefined;
}

/** How well the examples cover requests, where they come from, and how they are chosen. */
export function ExamplesTab({ world, runs }: ExamplesTabProps) {
  const { examples } = world.pinned;
  const texts = Object.entries(textsOf(world.config)).map(
    ([name, text]) => [humanizeName(name), text] as const,
  );
  const run = runs?.find(
    ({ status, target }) => status === "finished" && "world" in target && target.world === referenceOf(world),
  );
  return (
    <>
      {examples !== null && (
        <section
          aria-label="Coverage"
          className="flex min-w-0 flex-col gap-3 border-b border-line p-4 [&>div:has(table)]:-mx-4"
        >
          <h3 className="text-sm font-semibold">How well they cover what is asked</h3>
          {runs === undefined ? (
            "…"
          ) : run === undefined ? (
            <div className="flex flex-col items-start gap-3">
              <p className="text-sm text-ink-2">
                A run through {referenceOf(world)} shows here how similar its examples are to what is asked,
                by kind of action, and which of them mislead.
              </p>
              <MeasureLink world={world} />
            </div>
          ) : (
            <Coverage world={world} pinned={examples} runs={runs} />
          )}
        </section>
      )}
      <div className="p-4">
        <Fold title="Settings" isOpen={run === undefined}>
          <dl className="grid grid-cols-[9rem_1fr] text-sm">
            {[...texts, ...worldFacts(world)].map(([name, text]) => (
              <Fact key={name} look="lined" name={name}>
                <span className="min-w-0 wrap-anywhere">
                  {name === "Dataset" && examples !== null ? (
                    <>
                      <DatasetLink id={examples.dataset_id} />, revision {examples.revision}
                    </>
                  ) : (
                    <InlineText text={text} />
                  )}
                </span>
              </Fact>
            ))}
          </dl>
        </Fold>
      </div>
    </>
  );
}

/** How close the examples were to the requests of the newest run, and which of them wrong answers relied on. */
function Coverage({ world, pinned, runs }: ExamplesTabProps & { pinned: Examples }) {
  const { data, error, refetch } = useQuery(worldCoverageQuery(usePresage(), world));
  if (data === undefined) return <Awaited error={error} onRetry={refetch} count={3} className="h-8" />;
  const { predictions, without_example: without, judged, right, actions, misleading } = data;
  const run = runs?.find(({ id }) => id === data.run_id);
  const byWrong = actions.toSorted((one, other) => other.judged - other.right - (one.judged - one.right));
  const [worst] = byWrong;
  const wrong = worst === undefined ? 0 : worst.judged - worst.right;
  return (
    <>
      <p className="text-sm text-ink-2">
        {counted(predictions, "prediction")} in {run === undefined ? "the newest run" : <RunLink run={run} />}
        : {formatCount(right)} of {formatCount(judged)} right by{" "}
        {shortEvaluatorNames([data.evaluator])(data.evaluator)},{" "}
        {without === 0 ? "none" : formatCount(without)} without a similar example.
        {worst !== undefined && wrong > 0 && (
          <>
            {" "}
            <span className="text-ink">
              {formatCount(wrong)} of the {formatCount(judged - right)} wrong ones are of “
              <InlineText text={worst.verb ?? "none"} />”
              {worst.nearest !== null &&
                `, whose nearest example is ${worst.nearest.toFixed(3)} similar, in the median`}
              .
            </span>
          </>
        )}
      </p>
      <Table label="Kinds of action, those with the most wrong answers first" isStacked>
        <thead className="border-b border-line">
          <tr>
            <HeaderCell>Kind of action</HeaderCell>
            <HeaderCell isNumber>Predictions</HeaderCell>
            <HeaderCell short="Nearest example">Similarity of the nearest example, median</HeaderCell>
            <HeaderCell>Right</HeaderCell>
          </tr>
        </thead>
        <tbody>
          {byWrong.map((action) => (
            <ActionRow key={action.verb} action={action} />
          ))}
        </tbody>
      </Table>
      <h3 className="text-sm font-semibold">Examples that mislead</h3>
      {misleading.length === 0 ? (
        <p className="text-sm text-ink-2">
          No example was chosen three times or more and is beside more wrong answers than others are.
        </p>
      ) : (
        <Table label="Examples that wrong answers leaned on" isStacked>
          <thead className="border-b border-line">
            <tr>
              <HeaderCell>Example</HeaderCell>
              <HeaderCell isNumber>Chosen</HeaderCell>
              <HeaderCell>Wrong then</HeaderCell>
              <HeaderCell>Its action</HeaderCell>
              <HeaderCell>A sample that it misled</HeaderCell>
            </tr>
          </thead>
          <tbody>
            {misleading.map((example) => (
              <tr key={example.dataset_sample_id} className="border-b border-line last:border-b-0">
                <RowHeader>
                  <ExampleLink example={example} pinned={pinned}>
                    <SampleName id={example.dataset_sample_id} />
                  </ExampleLink>
                </RowHeader>
                <Cell isNumber>{formatCount(example.chosen)}</Cell>
                <Cell>
                  <Share
                    of={example.wrong / example.chosen}
                    color="bg-fail"
                    text={outOf(example.wrong, example.chosen)}
                  />
                </Cell>
                <Cell>
                  <Beginning text={example.action} />
                </Cell>
                <Cell>
                  {example.misled === null ? (
                    "–"
                  ) : (
                    <Link
                      to="/runs/$runId/trajectories/$trajectoryId"
                      params={{ runId: data.run_id, trajectoryId: example.misled.trajectory_id }}
                      search={{ step: example.misled.step }}
                      title={example.misled.action ?? undefined}
                      className="font-mono text-xs text-accent-ink hover:underline"
                    >
                      <InlineText text={example.misled.dataset_sample_id} />
                    </Link>
                  )}
                </Cell>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </>
  );
}

function ActionRow({ action }: { action: WorldCoverage["actions"][number] }) {
  const { verb, predictions, nearest, judged, right } = action;
  return (
    <tr className="border-b border-line last:border-b-0">
      <RowHeader>{verb === null ? "none" : <InlineText text={verb} />}</RowHeader>
      <Cell isNumber>{formatCount(predictions)}</Cell>
      <Cell className="tabular-nums">{nearest?.toFixed(3) ?? "none"}</Cell>
      <Cell>
        {judged === 0 ? (
          "none judged"
        ) : (
          <Share of={right / judged} color="bg-accent" text={outOf(right, judged)} />
        )}
      </Cell>
    </tr>
  );
}

/** A share as a bar, with its figure. */
function Share({ of, color, text }: { of: number; color: string; text: string }) {
  return (
    <span className="flex items-center gap-3 tabular-nums">
      <span aria-hidden className="h-1.5 w-24 shrink-0 overflow-hidden rounded-full bg-sunken max-sm:hidden">
        <span className={clsx("block h-full", color)} style={{ width: `${of * 100}%` }} />
      </span>
      {text}
    </span>
  );
}

function outOf(part: number, all: number): string {
  return `${formatCount(part)} of ${formatCount(all)}${all === 0 ? "" : `, ${formatShare(part / all)}`}`;
}
