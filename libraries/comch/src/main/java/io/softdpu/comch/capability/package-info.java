/**
 * The Comm Channel's part in the uniform capability queries of core: three libraries, as DOCA has
 * them. For ServiceLoader alone; it repeats what {@link io.softdpu.comch.ComchCapabilities} tells.
 * Holds no state; any thread.
 */
@NullMarked
package io.softdpu.comch.capability;

import org.jspecify.annotations.NullMarked;
