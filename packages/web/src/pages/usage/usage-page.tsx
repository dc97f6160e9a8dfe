import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { createLazyRoute, Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { ChartColumn, Ellipsis } from "lucide-react";
import { usePresage } from "../../data/client.ts";
import { budgetsQuery, monthSpendingQuery, spendingQuery } from "../../data/spending.ts";
import { defaultPeriod, periodLabels } from "../../format/times.ts";
import { buttonClass, IconButton } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { PeriodPicker } from "../../ui/form/choices.tsx";
import { Menu } from "../../ui/menu.tsx";
import { EmptyState, ErrorNotice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { ChartSkeleton, SkeletonRows } from "../../ui/skeleton.tsx";
import { MoneyCard } from "./money-card.tsx";
import { PeopleTable } from "./people-table.tsx";
import { SpendingChart } from "./spending-chart.tsx";
import { DownloadItem } from "./usage-export.tsx";

export const usageRoute = createLazyRoute("/usage")({ component: UsagePage });

function UsagePage() {
  const { period = defaultPeriod } = usageRoute.useSearch();
  const navigate = usageRoute.useNavigate();
  const presage = usePresage();
  const month = useQuery(monthSpendingQuery(presage));
  const budgets = useQuery(budgetsQuery(presage));
  const { data, error, refetch, isPlaceholderData } = useQuery({
    ...spendingQuery(presage, period),
    placeholderData: keepPreviousData,
  });
  const failed = error ?? month.error ?? budgets.error;
  const retry = () => [refetch(), month.refetch(), budgets.refetch()];
  return (
    <Page
      title="People & spend"
      hint="What your account spends, by whom and on what. Figures lag by about 10 seconds."
      actions={
        <>
          <PeriodPicker
            value={period}
            onChange={(next) =>
              navigate({ search: next === defaultPeriod ? {} : { period: next }, replace: true })
            }
          />
          <Menu trigger={<IconButton label="More" icon={<Ellipsis aria-hidden />} />}>
            <DownloadItem period={period} />
          </Menu>
        </>
      }
    >
      {failed !== null && <ErrorNotice error={failed} onRetry={retry} />}
      {month.data !== undefined && budgets.data !== undefined && (
        <MoneyCard month={month.data} budgets={budgets.data} />
      )}
      {data === undefined ? (
        failed === null && <Loading />
      ) : (
        <div
          className={clsx(
            "flex min-w-0 flex-col gap-4 transition-opacity",
            isPlaceholderData && "opacity-60",
          )}
        >
          {data.people.length === 0 ? (
            <NothingAsked name={periodLabels[period]} />
          ) : (
            <>
              <SpendingChart spending={data} />
              <PeopleTable spending={data} />
            </>
          )}
        </div>
      )}
    </Page>
  );
}

function NothingAsked({ name }: { name: string }) {
  return (
    <Card>
      <EmptyState
        icon={ChartColumn}
        title={`No requests in the last ${name}`}
        actions={
          <>
            <Link to="/playground" className={buttonClass({ variant: "primary" })}>
              Open the playground
            </Link>
            <Link to="/api-keys" className={buttonClass({})}>
              View API keys
            </Link>
          </>
        }
      >
        Requests and tokens appear here a few seconds after they are used.
      </EmptyState>
    </Card>
  );
}

function Loading() {
  return (
    <>
      <Card title="By day">
        <ChartSkeleton />
      </Card>
      <Card title="By person">
        <SkeletonRows count={5} />
      </Card>
    </>
  );
}
