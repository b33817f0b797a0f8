/**
 * Memory that one process lets others import: exported under a number and a key, leased by
 * importers, passed on once, and revoked.
 *
 * <p><b>Threads.</b> Any thread exports, imports, revokes and closes; leases come and go on the bus
 * thread. Whether a region is revoked is one load per generation page, on the data path.
 *
 * <p><b>Ownership.</b> A region belongs to who exported or imported it. An exported region keeps
 * its memory until it is revoked, and the memory cannot be exported again until the last lease has
 * ended.
 *
 * <p><b>Trust.</b> The key shows that the bearer was given the address. An importer can read the
 * page that tells of a revocation and not write it; it lets go of the memory when it hangs up, not
 * when it says so.
 */
@NullMarked
package io.softdpu.fabric.region;

import org.jspecify.annotations.NullMarked;
