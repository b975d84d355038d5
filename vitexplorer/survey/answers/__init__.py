"""What a survey answers: one question of a person in each file, over the rows that conditions leave.

Every answer is bounded: numbers of groups, a page of rows, a sample, each with the bound in its file.
"""

from vitexplorer.survey.answers.count import count as count
from vitexplorer.survey.answers.gallery import gallery as gallery
from vitexplorer.survey.answers.histogram import Histogram as Histogram
from vitexplorer.survey.answers.histogram import histogram as histogram
from vitexplorer.survey.answers.numeric_columns import numeric_columns as numeric_columns
