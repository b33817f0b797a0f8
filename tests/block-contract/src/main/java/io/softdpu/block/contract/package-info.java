/**
 * Contract tests of block devices, which use only their public API: abstract test classes, one per
 * subject, which the tests of a device subclass with a {@link
 * io.softdpu.block.contract.BlockTestEnvironment}.
 *
 * <p><b>Thread.</b> Most tests drive all contexts on one thread; tests of several cores use one
 * thread for each.
 *
 * <p><b>Ownership.</b> A test owns its devices and its folder. Every wait has a deadline.
 */
@NullMarked
package io.softdpu.block.contract;

import org.jspecify.annotations.NullMarked;
