#include "exec/cpus.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace ropewalk {
namespace {

struct CloseFile {
  void operator()(FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<FILE, CloseFile>;

// CPUs of the quota in a file of the form "quota period" (cgroup v2), or 0.
double QuotaV2(const char* path) noexcept {
  const File file(std::fopen(path, "re"));
  double quota = 0;
  double period = 0;
  if (file == nullptr ||
      std::fscanf(file.get(), "%lf %lf", &quota, &period) != 2) {
    return 0;  // no such file, or "max"
  }
  return period > 0 ? quota / period : 0;
}

double ReadNumber(const char* path) noexcept {
  const File file(std::fopen(path, "re"));
  double number = 0;
  if (file == nullptr || std::fscanf(file.get(), "%lf", &number) != 1) return 0;
  return number;
}

// The smallest quota from this process's cgroup up to the root (version 2), or
// that of version 1.
double Quota() noexcept {
  double least = 0;
  const auto take = [&least](double quota) {
    if (quota > 0 && (least == 0 || quota < least)) least = quota;
  };
  const File file(std::fopen("/proc/self/cgroup", "re"));
  char line[4096];
  while (file != nullptr && std::fgets(line, sizeof(line), file.get())) {
    if (std::strncmp(line, "0::/", 4) != 0) continue;
    char group[4096];
    std::snprintf(group, sizeof(group), "%s", line + 3);
    group[std::strcspn(group, "\n")] = '\0';
    for (;;) {
      char path[8300];
      std::snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
      take(QuotaV2(path));
      char* slash = std::strrchr(group, '/');
      if (slash == nullptr) break;
      *slash = '\0';
    }
  }
  take(QuotaV2("/sys/fs/cgroup/cpu.max"));
  const double period = ReadNumber("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (period > 0) {
    take(ReadNumber("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") / period);
  }
  return least;
}

size_t AffinityCpus() noexcept {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return std::max<size_t>(static_cast<size_t>(CPU_COUNT(&set)), 1);
}

}  // namespace

size_t ThreadsFromEnvironment() noexcept {
  if (const char* text = std::getenv("ROPEWALK_NUM_THREADS")) {
    char* end = nullptr;
    const unsigned long threads = std::strtoul(text, &end, 10);
    if (end != text && *end == '\0' && *text != '-' && threads > 0) {
      return std::min<size_t>(threads, kMostThreads);
    }
  }
  const size_t cpus = AffinityCpus();
  const double quota = Quota();
  if (quota <= 0) return cpus;
  return std::clamp<size_t>(static_cast<size_t>(std::ceil(quota)), 1, cpus);
}

}  // namespace ropewalk
