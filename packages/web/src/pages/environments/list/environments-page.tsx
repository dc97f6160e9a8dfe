import type { EnvironmentReality } from "@presage/sdk";
import { useQueries, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link, useNavigate } from "@tanstack/react-router";
import { Globe, Play, Plus } from "lucide-react";
import { useMemo, useState } from "react";
import { findQueryError, usePresage } from "../../../data/client.ts";
import { environmentsQuery, episodeFiguresQuery } from "../../../data/environments.ts";
import { checkedEnvironmentsQuery, realityQuery } from "../../../data/reality.ts";
import { counted } from "../../../format/numbers.ts";
import { AllowedButton } from "../../../parts/allowed.tsx";
import { buttonClass } from "../../../ui/button.tsx";
import { Card } from "../../../ui/card.tsx";
import { DataTable } from "../../../ui/data-table/data-table.tsx";
import { useDataTable } from "../../../ui/data-table/table-model.ts";
import { TableTools } from "../../../ui/data-table/table-tools.tsx";
import { useTableView } from "../../../ui/data-table/table-view.ts";
import { EmptyState, ErrorNotice } from "../../../ui/notice.tsx";
import { Page } from "../../../ui/page.tsx";
import { EnvironmentDialog } from "../form/environment-dialog.tsx";
import { environmentColumns } from "./environment-columns.tsx";

export const environmentsRoute = createLazyRoute("/environments")({ component: EnvironmentsPage });

const combine = (queries: readonly { data?: EnvironmentReality | undefined }[]) =>
  queries.map(({ data }) => data);

function EnvironmentsPage() {
  const presage = usePresage();
  const navigate = useNavigate();
  const [isNewOpen, setNewOpen] = useState(false);
  const environments = useQuery(environmentsQuery(presage));
  const figures = useQuery(episodeFiguresQuery(presage, "environment"));
  const { data: checked = [] } = useQuery(checkedEnvironmentsQuery(presage));
  const reality = useQueries({ queries: checked.map((name) => realityQuery(presage, name)), combine });
  const failure = findQueryError([environments, figures]);
  const isLoading = environments.data === undefined || (figures.data === undefined && figures.error === null);
  const rows = useMemo(
    () =>
      isLoading
        ? undefined
        : environments.data?.map((environment) => ({
            environment,
            figures: figures.data?.find((one) => one.environment === environment.name),
            reality: reality[checked.indexOf(environment.name)],
          })),
    [isLoading, environments.data, figures.data, checked, reality],
  );
  const view = useTableView("environments", environmentColumns, { isInAddress: true });
  const table = useDataTable({
    label: "Environments",
    view,
    columns: environmentColumns,
    rows,
    rowId: ({ environment }) => environment.name,
    rowName: ({ environment }) => environment.name,
    link: ({ environment }) => ({ to: "/environments/$name", params: { name: environment.name } }),
    spare: ["steps", "reward", "last", "deployment"],
    isMain: true,
  });
  return (
    <Page
      title="Environments"
      hint="An agent acts, and a model or a world predicts what it observes."
      actions={
        <>
          <Link to="/environments/$name/play" params={{ name: "sandbox" }} className={buttonClass({})}>
            <Play aria-hidden />
            Play the sandbox
          </Link>
          <AllowedButton
            needs="evaluate"
            variant="primary"
            icon={<Plus aria-hidden />}
            onClick={() => setNewOpen(true)}
          >
            New environment
          </AllowedButton>
        </>
      }
    >
      {failure && <ErrorNotice error={failure.error} onRetry={failure.retry} />}
      {(environments.data !== undefined || environments.error === null) && (
        <Card
          title={environments.data ? counted(environments.data.length, "environment") : "Environments"}
          actions={<TableTools table={table} />}
        >
          <DataTable
            table={table}
            expectedRows={3}
            empty={<EmptyState icon={Globe} title="No environments" />}
          />
        </Card>
      )}
      <EnvironmentDialog
        isOpen={isNewOpen}
        onClose={() => setNewOpen(false)}
        onSaved={({ name }) =>
          navigate({ to: "/environments/$name", params: { name }, search: { tab: "tasks" } })
        }
      />
    </Page>
  );
}
