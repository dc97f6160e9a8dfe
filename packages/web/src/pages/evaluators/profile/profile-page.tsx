import type { EvaluationSummaryGroup, EvaluatorProfile } from "@presage/sdk";
import { useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import {
  profileAgreementQuery,
  profileFiguresQuery,
  profileRevisionsQuery,
} from "../../../data/evaluation/evaluator-profiles.ts";
import { evaluatorFamiliesQuery } from "../../../data/evaluation/evaluators.ts";
import { periodRatesQuery } from "../../../data/evaluation/summaries.ts";
import { periodLabels } from "../../../data/figures/period.ts";
import { rateId, verdictsOf } from "../../../data/figures/rate-group.ts";
import { findQueryError } from "../../../data/query-errors.ts";
import { usePresage } from "../../../data/use-presage.ts";
import { RateByDayCard } from "../../../parts/rates.tsx";
import { UnavailablePage } from "../../../shell/unavailable-page.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { ErrorNotice } from "../../../ui/error-notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { CompareCard } from "./compare-card.tsx";
import { ConfigView } from "./config-view.tsx";
import { DisagreementsCard } from "./disagreements-card.tsx";
import { ProfileActions } from "./profile-actions.tsx";
import type { ProfileSearch } from "./profile-search.ts";
import { RevisionsCard } from "./revisions-card.tsx";
import { RunRatesCard } from "./run-rates-card.tsx";
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
      actions={
        <Link to="/evaluators" className={buttonClass({ variant: "primary" })}>
          All evaluators
        </Link>
      }
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
    void navigate({ search: { ...search, ...changes }, replace: true, resetScroll: false });
  }

  return (
    <Page
      title={newest.name}
      hint={<ProfileHint profile={newest} />}
      actions={<ProfileActions family={family} profile={newest} />}
    >
      {failure !== undefined && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      <RevisionsCard revisions={revisions} figures={figures.data} agreement={agreement.data} />
      <RateByDayCard
        period={period}
        rates={rates.data?.direct}
        title={`Pass rate by day, last ${periodLabels[period]}`}
        chosen={rate ?? newestRate(rates.data?.direct)}
        onChoose={(id) => change({ rate: id })}
      />
      <RunRatesCard figures={runs.data} />
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
      <div className="grid min-w-0 items-start gap-4 lg:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Card title={revisions.length > 1 ? `Config of revision ${newest.revision}` : "Config"}>
            <ConfigView family={family} config={newest.config} />
          </Card>
          {before !== undefined && (
            <CompareCard
              revisions={revisions}
              before={before}
              after={after}
              onChange={(choice) => change(choice)}
            />
          )}
        </div>
        {family !== undefined && newest.archived_at === null && (
          <TryCard key={newest.revision} family={family} profile={newest} />
        )}
      </div>
    </Page>
  );
}

function ProfileHint({ profile }: { profile: EvaluatorProfile }) {
  const { evaluator_family, description, is_managed, archived_at } = profile;
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
      {is_managed && " It is built-in and cannot be changed."}
      {archived_at !== null && (
        <>
          {" "}
          Archived <Time at={archived_at} />: it cannot be used or revised.
        </>
      )}
    </>
  );
}

/** The newest revision that has verdicts: what an evaluation with the profile would use. */
function newestRate(rates: readonly EvaluationSummaryGroup[] | undefined): string | undefined {
  const revisionOf = ({ key }: EvaluationSummaryGroup) => key.evaluator_profile_revision ?? 0;
  const judged = rates?.filter((figures) => verdictsOf(figures) > 0) ?? [];
  const [newest] = judged.toSorted((a, b) => revisionOf(b) - revisionOf(a) || verdictsOf(b) - verdictsOf(a));
  return newest && rateId(newest.key);
}
