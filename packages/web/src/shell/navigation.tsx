import { Link, type LinkProps } from "@tanstack/react-router";
import {
  ChartColumn,
  ClipboardCheck,
  Database,
  FlaskConical,
  FlaskRound,
  Gauge,
  GitCompareArrows,
  Globe,
  KeyRound,
  ListChecks,
  ListTree,
  type LucideIcon,
  MessagesSquare,
  Scale,
  ScrollText,
  Search,
  Server,
  Users,
} from "lucide-react";
import { useRole } from "../data/accounts.ts";
import { ThemeMenu } from "../theme/theme-menu.tsx";
import { Keys } from "../ui/shortcuts.tsx";
import { Mark } from "./mark.tsx";
import { UserMenu } from "./user-menu.tsx";

interface PageLink {
  to: NonNullable<LinkProps["to"]>;
  label: string;
  icon: LucideIcon;
  /** Others see the reason if they open the page. */
  isForOwners?: boolean;
}

export const linkGroups: { title: string; links: PageLink[] }[] = [
  {
    title: "Predict",
    links: [
      { to: "/", label: "Overview", icon: Gauge },
      { to: "/playground", label: "Playground", icon: FlaskConical },
      { to: "/predictions", label: "Predictions", icon: MessagesSquare },
      { to: "/environments", label: "Environments", icon: Globe },
      { to: "/deployments", label: "Deployments", icon: Server },
    ],
  },
  {
    title: "Evaluate",
    links: [
      { to: "/runs", label: "Runs", icon: FlaskRound },
      { to: "/datasets", label: "Datasets", icon: Database },
      { to: "/compare", label: "Compare", icon: GitCompareArrows },
      { to: "/evaluations", label: "Evaluations", icon: ListChecks },
      { to: "/evaluators", label: "Evaluators", icon: Scale },
      { to: "/error-taxonomies", label: "Error taxonomies", icon: ListTree },
      { to: "/review", label: "Review", icon: ClipboardCheck },
    ],
  },
  {
    title: "Account",
    links: [
      { to: "/usage", label: "Usage", icon: ChartColumn },
      { to: "/api-keys", label: "API keys", icon: KeyRound },
      { to: "/account/members", label: "Members", icon: Users, isForOwners: true },
      { to: "/account/audit-log", label: "Audit log", icon: ScrollText, isForOwners: true },
    ],
  },
];

interface NavigationProps {
  onNavigate?: () => void;
  onSearch(): void;
}

export function Navigation({ onNavigate, onSearch }: NavigationProps) {
  const role = useRole();
  const shown = (links: PageLink[]) => links.filter(({ isForOwners }) => !isForOwners || role === "owner");
  return (
    <div className="flex h-full flex-col gap-4 p-3">
      <div className="px-2 pt-1">
        <Mark />
      </div>
      <button
        type="button"
        onClick={onSearch}
        className="flex h-8 items-center gap-2 rounded-md border border-line-strong px-2 text-sm text-ink-3 hover:bg-hover hover:text-ink"
      >
        <Search className="size-4 shrink-0" aria-hidden />
        <span className="flex-1 text-left">Go to …</span>
        <span className="max-md:hidden">
          <Keys keys="mod+k" />
        </span>
      </button>
      <nav aria-label="Pages" className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto">
        {linkGroups.map(({ title, links }) => (
          <div key={title}>
            <h2 className="px-2 pb-1 text-xs font-medium text-ink-3">{title}</h2>
            <ul className="flex flex-col gap-0.5">
              {shown(links).map(({ to, label, icon: Icon }) => (
                <li key={to}>
                  <Link
                    to={to}
                    activeOptions={{ exact: to === "/", includeSearch: false }}
                    {...(onNavigate && { onClick: onNavigate })}
                    className="flex items-center gap-2 rounded-md px-2 py-1.5 text-sm font-medium text-ink-2 -outline-offset-2 transition-colors hover:bg-hover hover:text-ink data-[status=active]:bg-accent-soft data-[status=active]:text-accent-ink"
                  >
                    <Icon className="size-4 shrink-0" aria-hidden />
                    {label}
                  </Link>
                </li>
              ))}
            </ul>
          </div>
        ))}
      </nav>
      <div className="flex flex-col gap-3 border-t border-line pt-3">
        <div className="px-2">
          <ThemeMenu />
        </div>
        <UserMenu />
      </div>
    </div>
  );
}
