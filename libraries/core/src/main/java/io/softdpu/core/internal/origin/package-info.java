/**
 * Check whether what another process has exported over the fabric may be imported by a device here:
 * the same for every kind of export blob. Not exported. Stateless; any thread.
 */
@NullMarked
package io.softdpu.core.internal.origin;

import org.jspecify.annotations.NullMarked;
