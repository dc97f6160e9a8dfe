import type { EvaluationSummaryGroup, EvaluatorFamily, EvaluatorProfile } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { useState } from "react";
import { findQueryError, usePresage } from "../../../data/client.ts";
import {
  evaluatorFamiliesQuery,
  profileAgreementQuery,
  profileFiguresQuery,
  profileRevisionsQuery,
} from "../../../data/evaluators.ts";
import { addUp, periodRatesQuery, rateId, verdictsOf } from "../../../data/summaries.ts";
import { counted } from "../../../format/numbers.ts";
import { periodLabels } from "../../../format/times.ts";
import { humanizeName, plainName } from "../../../format/words.ts";
import { Agreement } from "../../../parts/label-sample.tsx";
import { RateByDayCard } from "../../../parts/rates.tsx";
import { RunLink } from "../../../parts/runs.tsx";
import { UnavailablePage } from "../../../parts/unavailable-page.tsx";
import { inPlace } from "../../../search-params.ts";
import { Button } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { configChanges, RevisionChanges, SettingValue } from "../../../ui/config-changes.tsx";
import { RevisionSelect } from "../../../ui/form/select.tsx";
import { ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { PassRate } from "../../../ui/pass-rate.tsx";
import { SkeletonRows } from "../../../ui/skeleton.tsx";
import { Cell, HeaderCell, RowHeader, Table } from "../../../ui/table.tsx";
import { Time } from "../../../ui/time.tsx";
import type { ProfileSearch } from "../evaluators-search.ts";
import { readConfigFields } from "../profile-form/config-field.ts";
import { DisagreementsCard } from "./disagreements-card.tsx";
import { ProfileActions } from "./profile-actions.tsx";
import { RevisionsCard } from "./revisions-card.tsx";
import { TryCard } from "./try-card.tsx";

export const profileRoute = createLazyRoute("/evaluators/profiles/$publicId")({ component: ProfilePage });

function ProfilePage() {
  const { publicId } = profileRoute.useParams();
  const presage = usePresage();
  const revisions = useQuery(profileRevisionsQuery(presage, publicId));
  const newest = revisions.data?.[0];
  if (revisions.data !== undefined && newest !== undefined) {
    return <Profile key={publicId} revisions={revisions.data} newest={newest} />;
  }
  return (
    <UnavailablePage
      title="Profile"
      query={revisions}
      link={{ to: "/evaluators", children: "All evaluators" }}
    />
  );
}

interface ProfileProps {
  /** Newest first. */
  revisions: readonly EvaluatorProfile[];
  newest: EvaluatorProfile;
}

function Profile({ revisions, newest }: ProfileProps) {
  const search = profileRoute.useSearch();
  const { from, to, period = "30d", rate } = search;
  const navigate = profileRoute.useNavigate();
  const presage = usePresage();
  const families = useQuery(evaluatorFamiliesQuery(presage));
  const figures = useQuery(profileFiguresQuery(presage, newest.public_id));
  const runs = useQuery(profileFiguresQuery(presage, newest.public_id, true));
  const agreement = useQuery(profileAgreementQuery(presage, newest.public_id));
  const rates = useQuery(periodRatesQuery(presage, period, newest.public_id));
  const failure = findQueryError([families, figures, runs, agreement, rates]);
  const family = families.data?.find(({ family_name }) => family_name === newest.evaluator_family);

  const after = revisions.find(({ revision }) => revision === to) ?? newest;
  const before =
    revisions.find(({ revision }) => revision === from) ??
    revisions.find(({ revision }) => revision === after.revision - 1) ??
    revisions[1];

  function change(changes: Partial<ProfileSearch>): void {
    void navigate({ search: { ...search, ...changes }, ...inPlace });
  }

  return (
    <Page
      title={newest.is_managed ? `${newest.evaluator_family}, ${plainName(newest.name)}` : newest.name}
      hint={<ProfileHint profile={newest} />}
      actions={<ProfileActions family={family} profile={newest} />}
    >
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      <div className="grid min-w-0 items-start gap-4 xl:grid-cols-[minmax(0,1fr)_26rem]">
        <div className="flex min-w-0 flex-col gap-4">
          <RevisionsCard
            revisions={revisions}
            figures={figures.data}
            runs={runs.data}
            agreement={agreement.data}
          >
            <Agreement
              of={{
                evaluator: newest.evaluator_family,
                profile_name: newest.name,
                profile_id: newest.public_id,
                profile_revision: String(newest.revision),
              }}
              existing={figures.data && runs.data && countOf([...figures.data, ...runs.data], newest)}
            />
          </RevisionsCard>
          {before !== undefined && (
            <CompareCard
              revisions={revisions}
              before={before}
              after={after}
              onChange={(choice) => change(choice)}
            />
          )}
          <RunRatesCard figures={runs.data} newest={newest} />
          {rates.data?.direct.some((figures) => verdictsOf(figures) > 0) && (
            <RateByDayCard
              period={period}
              rates={rates.data.direct}
              title={`Pass rate by day, last ${periodLabels[period]}`}
              chosen={rate ?? newestRate(rates.data.direct)}
              onChoose={(id) => change({ rate: id })}
            />
          )}
          <DisagreementsCard
            publicId={newest.public_id}
            openId={search.result}
            onOpen={(id) => {
              const { result: _, ...rest } = search;
              void navigate({
                search: { ...rest, ...(id !== undefined && { result: id }) },
                replace: search.result !== undefined,
                resetScroll: false,
              });
            }}
          />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Card title={revisions.length > 1 ? `Config of revision ${newest.revision}` : "Config"}>
            <ConfigView family={family} config={newest.config} />
          </Card>
          {family !== undefined && newest.archived_at === null && (
            <TryCard key={newest.revision} family={family} profile={newest} />
          )}
        </div>
      </div>
    </Page>
  );
}

function ProfileHint({ profile }: { profile: EvaluatorProfile }) {
  const { name, evaluator_family, description, is_managed, archived_at } = profile;
  return (
    <>
      A profile of{" "}
      <Link
        to="/evaluators"
        search={{ q: evaluator_family }}
        className="font-medium text-accent-ink hover:underline"
      >
        {evaluator_family}
      </Link>
      .{description !== null && description !== "" && ` ${description}`}
      {is_managed && (
        <>
          {" "}
          It is built in and cannot be changed; requests name it{" "}
          <code className="font-mono text-xs">{name}</code>.
        </>
      )}
      {archived_at !== null && (
        <>
          {" "}
          Archived <Time at={archived_at} />: it cannot be used or revised.
        </>
      )}
    </>
  );
}

/** The number of evaluations with a revision. */
function countOf(groups: readonly EvaluationSummaryGroup[], { revision }: EvaluatorProfile): number {
  return addUp(groups.filter(({ key }) => key.evaluator_profile_revision === revision)).count;
}

/** The rate of the newest revision that has verdicts, as the closest to a new evaluation with the profile. */
function newestRate(rates: readonly EvaluationSummaryGroup[] | undefined): string | undefined {
  const revisionOf = ({ key }: EvaluationSummaryGroup) => key.evaluator_profile_revision ?? 0;
  const judged = rates?.filter((figures) => verdictsOf(figures) > 0) ?? [];
  const [newest] = judged.toSorted((a, b) => revisionOf(b) - revisionOf(a) || verdictsOf(b) - verdictsOf(a));
  return newest && rateId(newest.key);
}

/** Limited because each row loads the name of its run. */
const maxListed = 50;
/** More rows would push the rest of the page out of sight. */
const maxAtFirst = 6;

/** With fewer, an interval covers nearly everything. */
const fewestVerdicts = 10;

const runOf = ({ key }: EvaluationSummaryGroup) => key.evaluation_run_id ?? "";

interface RunRatesCardProps {
  /** Undefined while loading. A few rows have the same height then. */
  figures: readonly EvaluationSummaryGroup[] | undefined;
  newest: EvaluatorProfile;
}

/** The pass rate in each run that used the newest revision. */
function RunRatesCard({ figures, newest: { revision } }: RunRatesCardProps) {
  const [showsAll, setShowsAll] = useState(false);
  const ofRevision = figures?.filter(({ key }) => key.evaluator_profile_revision === revision);
  const telling = ofRevision?.filter((of) => verdictsOf(of) >= fewestVerdicts);
  // Ids from Presage sort by time.
  const listed = telling
    ?.toSorted((one, other) => runOf(other).localeCompare(runOf(one)))
    .slice(0, maxListed);
  const all = telling?.length ?? 0;
  const others = (ofRevision?.length ?? 0) - all;
  return (
    <Card
      title={`Pass rate by run${revision > 1 ? ` of revision ${revision}` : ""}`}
      hint={`${figures === undefined ? "…" : counted(all + others, "run")}${all > maxListed ? `, the newest ${maxListed} below` : ""}. With people’s corrections and 95\u00a0% intervals.`}
    >
      {listed === undefined && <SkeletonRows count={5} className="h-9" />}
      {all + others === 0 && figures !== undefined && (
        <p className="px-4 py-3 text-sm text-ink-2">No run has used it.</p>
      )}
      {others > 0 && (
        <p className="border-b border-line px-4 py-2 text-xs text-ink-3 last:border-b-0">
          {counted(others, all === 0 ? "run" : "other run")} with fewer than {fewestVerdicts} verdicts each.
        </p>
      )}
      {all > 0 && (
        <Table label="Pass rate by run" isStacked className="sm:table-fixed">
          <thead className="border-b border-line">
            <tr>
              <HeaderCell>Run</HeaderCell>
              <HeaderCell className="sm:w-3/5">Pass rate</HeaderCell>
            </tr>
          </thead>
          <tbody>
            {listed?.slice(0, showsAll ? maxListed : maxAtFirst).map((of) => {
              const { evaluation_run_id: id, evaluator_id } = of.key;
              return (
                <tr key={`${id} ${evaluator_id}`} className="border-b border-line last:border-0">
                  <RowHeader>{id && <RunLink id={id} />}</RowHeader>
                  <Cell>
                    <PassRate figures={of} />
                  </Cell>
                </tr>
              );
            })}
          </tbody>
        </Table>
      )}
      {all > maxAtFirst && (
        <div className="border-t border-line px-2 py-1.5">
          <Button variant="quiet" size="small" onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? `Show the newest ${maxAtFirst}` : `Show all ${Math.min(all, maxListed)}`}
          </Button>
        </div>
      )}
    </Card>
  );
}

interface ConfigViewProps {
  /** Undefined if this version of Presage no longer has the family. */
  family: EvaluatorFamily | undefined;
  config: Record<string, unknown>;
}

/** All settings of a profile, including defaults. */
function ConfigView({ family, config }: ConfigViewProps) {
  const fields = family === undefined ? [] : readConfigFields(family.profile_config_schema);
  const fallbacks = new Map(fields.map(({ name, fallback }) => [name, fallback]));
  const names = [...new Set([...fallbacks.keys(), ...Object.keys(config)])];
  if (names.length === 0) return <p className="px-4 py-3 text-sm text-ink-2">This family has no settings.</p>;
  return (
    <dl className="flex flex-col">
      {names.map((name) => {
        const isSet = config[name] !== undefined;
        const isDefault = !isSet && fallbacks.get(name) !== undefined;
        return (
          <div
            key={name}
            className="grid gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 last:border-b-0 sm:grid-cols-[9rem_1fr]"
          >
            <dt className="text-sm text-ink-2">{humanizeName(name)}</dt>
            <dd className="flex min-w-0 items-baseline justify-between gap-3">
              <div className="min-w-0">
                <SettingValue value={isSet ? config[name] : fallbacks.get(name)} />
              </div>
              {isDefault && <span className="shrink-0 text-xs text-ink-3">default</span>}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

interface CompareCardProps {
  /** Newest first; at least two. */
  revisions: readonly EvaluatorProfile[];
  before: EvaluatorProfile;
  after: EvaluatorProfile;
  onChange(choice: { from: number; to: number }): void;
}

/** What changed between two revisions of a profile. */
function CompareCard({ revisions, before, after, onChange }: CompareCardProps) {
  const numbered = revisions.map(({ revision }) => ({ revision }));
  const changes = configChanges(before.config, after.config);
  const [old, now] = [before.description ?? "", after.description ?? ""];
  if (old !== now) changes.push({ name: "description", before: old, after: now });
  return (
    <Card
      title="What changed"
      actions={
        <div className="flex w-full items-center gap-2 text-sm text-ink-2 sm:w-auto">
          from
          <RevisionSelect
            label="From revision"
            revisions={numbered}
            newest={numbered[0]?.revision ?? 1}
            value={before.revision}
            onChange={(from) => onChange({ from, to: after.revision })}
          />
          to
          <RevisionSelect
            label="To revision"
            revisions={numbered}
            newest={numbered[0]?.revision ?? 1}
            value={after.revision}
            onChange={(to) => onChange({ from: before.revision, to })}
          />
        </div>
      }
    >
      <RevisionChanges changes={changes} before={before.revision} after={after.revision} />
    </Card>
  );
}
