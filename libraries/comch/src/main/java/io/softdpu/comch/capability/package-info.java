/**
 * Capability sources of the Comm Channel for the capability queries of core: three libraries, as in
 * DOCA. Loaded by ServiceLoader only; the values are those of {@link
 * io.softdpu.comch.ComchCapabilities}. Stateless; any thread.
 */
@NullMarked
package io.softdpu.comch.capability;

import org.jspecify.annotations.NullMarked;
