import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute } from "@tanstack/react-router";
import { Scale } from "lucide-react";
import { latestProfilesQuery, profileFiguresQuery } from "../../data/evaluator-profiles.ts";
import { evaluatorFamiliesQuery, evaluatorsQuery } from "../../data/evaluators.ts";
import { findQueryError } from "../../data/query-errors.ts";
import { usePresage } from "../../data/use-presage.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNotice } from "../../ui/error-notice.tsx";
import { SearchInput } from "../../ui/form/search-input.tsx";
import { Switch } from "../../ui/form/switch.tsx";
import { Page } from "../../ui/page.tsx";
import { SkeletonRows } from "../../ui/skeleton.tsx";
import { FamilyCard } from "./family-card.tsx";
import { findFamilies } from "./find-families.ts";
import { figuresByRevision } from "./revision-figures.ts";

export const evaluatorsRoute = createLazyRoute("/evaluators")({ component: EvaluatorsPage });

function EvaluatorsPage() {
  const { q = "", archived = false } = evaluatorsRoute.useSearch();
  const navigate = evaluatorsRoute.useNavigate();
  const change = (search: { q?: string; archived?: true }) => navigate({ search, replace: true });
  const setWords = (words: string) =>
    change({ ...(words !== "" && { q: words }), ...(archived && { archived }) });
  return (
    <Page
      title="Evaluators"
      hint="What evaluates an output, and the profiles that configure it."
      actions={
        <>
          <Switch
            label="Archived profiles"
            isOn={archived}
            onChange={(isOn) => change({ ...(q !== "" && { q }), ...(isOn && { archived: true }) })}
          />
          <SearchInput label="Search evaluators and profiles" words={q} onSearch={setWords} />
        </>
      }
    >
      <Families words={q} includesArchived={archived} onClear={() => setWords("")} />
    </Page>
  );
}

function Families({
  words,
  includesArchived,
  onClear,
}: {
  words: string;
  includesArchived: boolean;
  onClear(): void;
}) {
  const presage = usePresage();
  const families = useQuery(evaluatorFamiliesQuery(presage));
  const evaluators = useQuery(evaluatorsQuery(presage));
  const profiles = useQuery({
    ...latestProfilesQuery(presage, { includesArchived }),
    placeholderData: keepPreviousData,
  });
  const figures = useQuery(profileFiguresQuery(presage));

  const failure = findQueryError([families, evaluators, profiles, figures]);
  const notice = failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />;
  if (!families.data || !evaluators.data || !profiles.data) return notice ?? <LoadingFamilies />;

  const found = findFamilies(families.data, profiles.data, words);
  const figuresOf = figures.data && figuresByRevision(figures.data);
  if (found.length === 0) {
    return (
      <Card>
        <EmptyState
          icon={Scale}
          title="No matches"
          actions={<Button onClick={onClear}>Clear the search</Button>}
        >
          No evaluator or profile has “{words}” in its name or description.
        </EmptyState>
      </Card>
    );
  }
  return (
    <>
      {notice}
      {found.map(({ family, profiles }) => (
        <FamilyCard
          key={family.family_name}
          family={family}
          evaluators={evaluators.data.filter(
            ({ evaluator_family }) => evaluator_family === family.family_name,
          )}
          profiles={profiles}
          figuresOf={figuresOf}
        />
      ))}
    </>
  );
}

function LoadingFamilies() {
  return ["first", "second", "third"].map((key) => (
    <Card key={key}>
      <SkeletonRows count={3} />
    </Card>
  ));
}
