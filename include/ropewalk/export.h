// What the shared library shows: functions and classes marked so, nothing else.

#ifndef ROPEWALK_EXPORT_H_
#define ROPEWALK_EXPORT_H_

/// The library is compiled with hidden visibility; this makes a name public. It
/// changes nothing for a program that only uses the header.
#if defined(__GNUC__)
#define ROPEWALK_EXPORT __attribute__((visibility("default")))
#else
#define ROPEWALK_EXPORT
#endif

#endif  // ROPEWALK_EXPORT_H_
