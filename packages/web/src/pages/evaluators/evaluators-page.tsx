import type { EvaluatorFamily } from "@presage/sdk";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute, useNavigate } from "@tanstack/react-router";
import { Plus, Scale } from "lucide-react";
import { useMemo, useState } from "react";
import { findQueryError, usePresage } from "../../data/client.ts";
import { evaluatorFamiliesQuery, evaluatorsQuery, latestProfilesQuery } from "../../data/evaluators.ts";
import { periodRatesQuery, searchOfRate, summaryRefreshMs } from "../../data/summaries.ts";
import { defaultPeriod, periodLabels } from "../../format/times.ts";
import { AllowedMenuItem } from "../../parts/allowed.tsx";
import { inPlace } from "../../search-params.ts";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { DataTable } from "../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../ui/data-table/table-model.ts";
import { TableTools } from "../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../ui/data-table/table-view.ts";
import { PeriodPicker, Switch } from "../../ui/form/choices.tsx";
import { SearchInput } from "../../ui/form/inputs.tsx";
import { Menu } from "../../ui/menu.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { evaluatorColumns } from "./evaluator-columns.tsx";
import { type EvaluatorRow, purposeLabels, toEvaluatorRows, withoutUnused } from "./evaluator-rows.ts";
import type { EvaluatorsSearch } from "./evaluators-search.ts";
import { ProfileDialog } from "./profile-form/profile-dialog.tsx";

export const evaluatorsRoute = createLazyRoute("/evaluators")({ component: EvaluatorsPage });

function EvaluatorsPage() {
  const {
    q = "",
    archived = false,
    unused = false,
    period = defaultPeriod,
    ...view
  } = evaluatorsRoute.useSearch();
  const navigate = evaluatorsRoute.useNavigate();
  const presage = usePresage();
  const families = useQuery(evaluatorFamiliesQuery(presage));
  const evaluators = useQuery(evaluatorsQuery(presage));
  const profiles = useQuery({
    ...latestProfilesQuery(presage, { includesArchived: archived }),
    placeholderData: keepPreviousData,
  });
  const rates = useQuery({
    ...periodRatesQuery(presage, period),
    refetchInterval: summaryRefreshMs,
    placeholderData: keepPreviousData,
  });
  const failure = findQueryError([families, evaluators, profiles, rates]);
  // Uses determine the order, so rows wait for them; if they cannot be loaded, rows are shown without them.
  const isLoading = !families.data || !profiles.data || (rates.data === undefined && !rates.isError);
  const all = useMemo(
    () =>
      isLoading
        ? undefined
        : toEvaluatorRows({
            families: families.data ?? [],
            evaluators: evaluators.data,
            profiles: profiles.data ?? [],
            used: rates.data?.used,
            words: q,
          }),
    [isLoading, families.data, evaluators.data, profiles.data, rates.data, q],
  );
  const hidesUnused = !unused && q === "";
  const rows = useMemo(() => all && (hidesUnused ? withoutUnused(all) : all), [all, hidesUnused]);
  const table = useDataTable({
    label: "Evaluators and profiles",
    view: useTableView("evaluators", evaluatorColumns, { isInAddress: true }),
    columns: evaluatorColumns,
    rows,
    rowId: ({ id }) => id,
    rowName: ({ name, profileName }) => `${name}, ${profileName}`,
    link: linkOf,
    groupOf: purposeOf,
    spare: ["revision", "changed", "failed"],
    isMain: true,
  });

  const change = (changes: { q?: string; archived?: boolean; unused?: boolean; period?: typeof period }) => {
    const next = { q, archived, unused, period, ...changes };
    const search: EvaluatorsSearch = {
      ...view,
      ...(next.q !== "" && { q: next.q }),
      ...(next.archived && { archived: true }),
      ...(next.unused && { unused: true }),
      ...(next.period !== defaultPeriod && { period: next.period }),
    };
    void navigate({ search, ...inPlace });
  };

  return (
    <Page
      title="Evaluators"
      hint={`What judges an output, and the profiles that configure it. Uses are of the last ${periodLabels[period]}.`}
      actions={
        <>
          <PeriodPicker value={period} onChange={(next) => change({ period: next })} />
          <NewProfileMenu families={families.data} />
        </>
      }
    >
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      <Card
        title="Evaluators and profiles"
        actions={
          <>
            <SearchInput
              label="Search evaluators and profiles"
              words={q}
              onSearch={(words) => change({ q: words })}
            />
            <Switch label="Unused" isOn={unused} onChange={(isOn) => change({ unused: isOn })} />
            <Switch
              label="Archived profiles"
              isOn={archived}
              onChange={(isOn) => change({ archived: isOn })}
            />
            <TableTools table={table} />
          </>
        }
      >
        {(failure === undefined || rows !== undefined) && (
          <DataTable
            table={table}
            expectedRows={16}
            empty={
              <EmptyState
                icon={Scale}
                title="No matches"
                actions={<Button onClick={() => change({ q: "" })}>Clear the search</Button>}
              >
                No evaluator or profile has “{q}” in its name or description.
              </EmptyState>
            }
          />
        )}
      </Card>
    </Page>
  );
}

const purposeOf = ({ purpose }: EvaluatorRow) => purposeLabels[purpose];

const linkOf = ({ evaluatorId, profile }: EvaluatorRow) =>
  profile === undefined
    ? { to: "/evaluations" as const, search: searchOfRate({ evaluator_id: evaluatorId }) }
    : { to: "/evaluators/profiles/$publicId" as const, params: { publicId: profile.public_id } };

/** Creates a profile of a family. */
function NewProfileMenu({ families }: { families: readonly EvaluatorFamily[] | undefined }) {
  const [family, setFamily] = useState<EvaluatorFamily>();
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  return (
    <>
      <Menu
        trigger={
          <Button variant="primary" icon={<Plus aria-hidden />} disabled={families === undefined}>
            New profile
          </Button>
        }
      >
        <div className="max-h-96 max-w-96 overflow-y-auto">
          {families?.map((one) => (
            <AllowedMenuItem
              key={one.family_name}
              needs="evaluate"
              onSelect={() => {
                setFamily(one);
                setOpen(true);
              }}
            >
              <span className="flex min-w-0 flex-col">
                <span className="font-medium">{one.family_name}</span>
                <span className="text-xs text-ink-3">{one.description}</span>
              </span>
            </AllowedMenuItem>
          ))}
        </div>
      </Menu>
      {family !== undefined && (
        <ProfileDialog
          isOpen={isOpen}
          onClose={() => setOpen(false)}
          family={family}
          onSaved={({ public_id }) =>
            navigate({ to: "/evaluators/profiles/$publicId", params: { publicId: public_id } })
          }
        />
      )}
    </>
  );
}
