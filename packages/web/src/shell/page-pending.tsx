import { Skeleton } from "../ui/skeleton.tsx";

export function PagePending() {
  return (
    <div role="status" className="mx-auto flex max-w-6xl flex-col gap-4 p-4 md:p-6">
      <span className="sr-only">Loading</span>
      <div className="flex flex-col gap-1">
        <Skeleton className="h-7 w-48" />
        <Skeleton className="h-4 w-80 max-w-full" />
      </div>
      <Skeleton className="h-40" />
      <Skeleton className="h-64" />
    </div>
  );
}
