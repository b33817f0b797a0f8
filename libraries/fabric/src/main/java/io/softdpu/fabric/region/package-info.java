/**
 * Regions: memory that one process exports under a number and a key, that others lease and may
 * re-export once, and that is revoked.
 *
 * <p><b>Threads.</b> Any thread exports, imports, revokes and closes; leases begin and end on the
 * bus thread. Whether a region is revoked is one load per generation page, on the data path.
 *
 * <p><b>Ownership.</b> A region belongs to the caller that exported or imported it. An exported
 * region keeps its memory until it is revoked, and the memory cannot be exported again until the
 * last lease has ended.
 *
 * <p><b>Trust.</b> The key shows that the importer was given the address. An importer can read the
 * generation page and not write it. The memory counts as released when the importer hangs up, not
 * by a message.
 */
@NullMarked
package io.softdpu.fabric.region;

import org.jspecify.annotations.NullMarked;
