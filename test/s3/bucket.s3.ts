import { describeBucket } from '../conformance/log-bucket/suite.ts';
import { findS3 } from './find-s3.ts';

describeBucket('a bucket of a real server', findS3);
